//! The answers of calls, as owned values: one file for each object.

mod agreements;
mod changes;
mod cluster_status;
mod collections;
mod controller_revisions;
mod header;
mod itself;
mod leases;
mod members;
mod migrations;
mod objects;
mod outcome;
mod request_key;
mod rosters;
mod safety;
mod storage_state;
mod storage_version;
mod storage_versions;
mod upgrades;
mod wire;

pub use agreements::{Agreement, Obstacle, ObstacleGroup, ObstacleReason, ResourceAgreement};
pub use changes::{
    AgreementHistory, Changed, CheckpointWritten, Joined, Renewed, Reported, ReportedResource,
    RevisionAtTime, SettingsView,
};
pub use cluster_status::{Alarm, AlarmKind, ClusterStatus, ReplicaRole, ReplicaStatus};
pub use collections::{
    CollectionChanged, CollectionItem, CollectionPage, CollectionView, EncodingCount,
};
pub use controller_revisions::{
    HistoryAnswer, HistoryChanged, HistoryPage, RevisionAnswer, RevisionAnswered, RevisionDiff,
    RevisionOutcome, RevisionView,
};
pub use header::Header;
pub use itself::{Diagnostics, LogFilter, LogFilterView, ReplicaVitals};
pub use leases::{
    Acquired, Acquisition, LeaseCandidateItem, LeaseCandidatePage, LeaseItem, LeasePage, LeaseView,
};
pub use members::{MemberItem, MemberPage, MemberView};
pub use migrations::{
    MigrationClaimed, MigrationCompleted, MigrationPage, MigrationStarted, MigrationView,
};
pub use objects::{
    ObjectItem, ObjectPage, ObjectView, ObjectWritten, OperationResult, ReadResult, Transacted,
};
pub use outcome::{Outcome, OutcomeAnswer};
pub use request_key::RequestKey;
pub use rosters::{RosterChanged, RosterPage, RosterView};
pub use safety::{Assumed, Danger, DangerReason, Safety};
pub use storage_state::{Drain, Drained, ObserverLook, ShortAbsence, StorageState, UngatedMember};
pub use storage_version::{StorageVersion, StorageVersionEntry, StorageVersionStatus};
pub use storage_versions::{Heartbeat, StorageVersionItem, StorageVersionPage, StorageVersionView};
pub use upgrades::{UpgradeObstacle, UpgradeReason, UpgradeStatus};

pub(crate) use wire::{FromWire, read};
