//! The typed requests that change the state, and the checks of their fields.
//!
//! `check` finds the broken rules of a request that do not depend on the state and that the types
//! of its fields cannot express. Only apply decides whether the request is right for the state.

mod acquire_lease;
mod adopt;
mod adopt_controller_revisions;
mod close_session;
mod collections;
mod create_controller_revision;
mod delete_controller_revisions;
mod delete_lease;
mod equivalents;
mod forget_resource;
mod join;
mod leave;
mod mark_controller_revisions;
mod mark_ready;
mod migrations;
mod objects;
mod open_session;
mod put_lease_candidate;
mod release_lease;
mod renew;
mod renew_lease;
mod renew_lease_candidate;
mod report;
mod rollback_controller_revision;
mod rosters;
mod transact;
mod truncate_controller_revisions;
mod update_controller_revision;
mod update_settings;
mod withdraw_lease_candidate;

pub use acquire_lease::AcquireLease;
pub use adopt::Adopt;
pub use adopt_controller_revisions::{AdoptControllerRevisions, ReleaseControllerRevision};
pub use close_session::CloseSession;
pub use collections::{CreateCollection, DeleteCollection, UpdateCollection};
pub use create_controller_revision::{CreateControllerRevision, NAMED_SNAPSHOTS_SINCE};
pub use delete_controller_revisions::DeleteControllerRevisions;
pub use delete_lease::{DELETE_LEASE_SINCE, DeleteLease};
pub use equivalents::{AddEquivalents, RemoveEquivalent};
pub use forget_resource::ForgetResource;
pub use join::Join;
pub use leave::Leave;
pub use mark_controller_revisions::{InUse, Mark, MarkControllerRevisions};
pub use mark_ready::MarkReady;
pub use migrations::{
    ALIASES_SINCE, AbortMigration, ClaimMigration, CompleteMigration, DELETE_MIGRATION_SINCE,
    DeleteMigration, DismissLooks, FailMigration, ObserveStorage, RELEASES_SINCE, ReleaseMigration,
    ReportMigrationProgress, ResetStorageStates, RetryMigration, StartMigration,
};
pub use objects::{CreateObject, DeleteObject, PatchObject, Propagation, UpdateObject};
pub use open_session::OpenSession;
pub use put_lease_candidate::PutLeaseCandidate;
pub use release_lease::ReleaseLease;
pub use renew::Renew;
pub use renew_lease::RenewLease;
pub use renew_lease_candidate::RenewLeaseCandidate;
pub use report::Report;
pub use rollback_controller_revision::{RollbackControllerRevision, RollbackTarget};
pub use rosters::{DeleteRoster, SetRoster};
pub use transact::{Compare, Operation, Transact};
pub use truncate_controller_revisions::TruncateControllerRevisions;
pub use update_controller_revision::UpdateControllerRevision;
pub use update_settings::UpdateSettings;
pub use withdraw_lease_candidate::WithdrawLeaseCandidate;

#[cfg(test)]
mod tests;
