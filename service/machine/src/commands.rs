//! What each command does to the state, one file each.
//!
//! Every `apply` first decides and refuses, and only then changes rows; a shape that `synod-model` checks at the edge is
//! not checked again.

pub(crate) mod adopt;
pub(crate) mod announce_replica;
pub(crate) mod close_session;
pub(crate) mod expire;
pub(crate) mod initialize;
pub(crate) mod join;
pub(crate) mod leave;
pub(crate) mod mark_ready;
pub(crate) mod open_session;
pub(crate) mod raise_machine_version;
pub(crate) mod renew;
pub(crate) mod report;
pub(crate) mod update_settings;

mod departure;
