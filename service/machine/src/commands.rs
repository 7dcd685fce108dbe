//! How each command changes the state, one file for each.
//!
//! Every `apply` first checks and refuses, and only then changes rows. Shapes that `synod-model` checks when a request
//! is read are not checked again.

pub(crate) mod acquire_lease;
pub(crate) mod adopt;
pub(crate) mod adopt_controller_revisions;
pub(crate) mod announce_replica;
pub(crate) mod close_session;
pub(crate) mod collect_garbage;
pub(crate) mod create_collection;
pub(crate) mod create_controller_revision;
pub(crate) mod create_object;
pub(crate) mod delete_collection;
pub(crate) mod delete_controller_revisions;
pub(crate) mod delete_lease;
pub(crate) mod delete_object;
pub(crate) mod dismiss_looks;
pub(crate) mod equivalents;
pub(crate) mod expire;
pub(crate) mod follow_switches;
pub(crate) mod forget_resource;
pub(crate) mod initialize;
pub(crate) mod join;
pub(crate) mod leave;
pub(crate) mod mark_controller_revisions;
pub(crate) mod mark_ready;
pub(crate) mod migrations;
pub(crate) mod observe_storage;
pub(crate) mod open_session;
pub(crate) mod patch_object;
pub(crate) mod put_lease_candidate;
pub(crate) mod raise_machine_version;
pub(crate) mod release_controller_revision;
pub(crate) mod release_lease;
pub(crate) mod renew;
pub(crate) mod renew_lease;
pub(crate) mod renew_lease_candidate;
pub(crate) mod report;
pub(crate) mod reset_storage_states;
pub(crate) mod restore;
mod returns;
pub(crate) mod rollback_controller_revision;
pub(crate) mod rosters;
pub(crate) mod transact;
pub(crate) mod truncate_controller_revisions;
pub(crate) mod update_collection;
pub(crate) mod update_controller_revision;
pub(crate) mod update_object;
pub(crate) mod update_settings;
pub(crate) mod withdraw_lease_candidate;

mod controller_history;
mod departure;
mod live_marks;
mod succession;
