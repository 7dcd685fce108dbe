//! Reading requests: what is read, and how fresh or how exact the answer must be.

mod cluster;
mod collections;
mod consistency;
mod controller_revisions;
mod leases;
mod members;
mod migrations;
mod objects;
mod page;
mod rosters;
mod safety;
mod sessions;
mod storage_versions;
mod watch;

pub use cluster::{FindRevisionAt, GetSettings, SetLogFilter, TakeBackup};
pub use collections::{CollectionCursor, GetCollection, ListCollections};
pub use consistency::Consistency;
pub use controller_revisions::{
    ControllerHistoryCursor, ControllerRevisionCursor, DiffControllerRevisions,
    GetControllerHistory, GetControllerRevision, ListControllerRevisions,
};
pub use leases::{GetLease, ListLeaseCandidates, ListLeases};
pub use members::{GetMember, ListMembers};
pub use migrations::{GetMigration, ListMigrations};
pub use objects::{GetObject, ListObjects, ObjectCursor, ObjectScope};
pub use page::{ContinueToken, ListId, PageKey, PageRequest, PageStart};
pub use rosters::{GetRoster, ListRosters};
pub use safety::{CheckAgreement, CheckBinary, CheckDrop, CheckUpgrade};
pub use sessions::GetOutcome;
pub use storage_versions::{AgreementHistory, GetStorageVersion, ListStorageVersions};
pub use watch::{WatchFilter, WatchStart};

#[cfg(test)]
mod tests;
