//! The Rust client of Synod.

mod client;
mod error;
mod kubernetes;
mod read_options;
pub mod seams;
mod session;
mod transport;
mod values;

pub use client::{
    Client, ClientBuilder, ListMembers, ListStorageVersions, MemberEpoch, MemberPages,
    StorageVersionPages,
};
pub use error::Error;
pub use kubernetes::storage_version_hash;
pub use read_options::ReadOptions;
pub use values::{
    AgreementHistory, Alarm, AlarmKind, Changed, ClusterStatus, Drain, Header, Joined, MemberItem,
    MemberPage, MemberView, Outcome, OutcomeAnswer, Renewed, ReplicaRole, ReplicaStatus, Reported,
    ReportedResource, RequestKey, SettingsView, StorageState, StorageVersion, StorageVersionEntry,
    StorageVersionItem, StorageVersionPage, StorageVersionStatus, StorageVersionView,
};

pub use synod_model::{
    AgreementChange, ApiVersion, BinaryVersion, ClusterId, Condition, ConditionStatus, Current,
    Endpoint, Epoch, ErrorKind, GroupResource, InstanceId, Join, Kind, Labels, LogTime, Member,
    MemberId, Metadata, Persisted, Phase, ReportEntry, Revision, Sequence, SessionId, Settings,
    SettingsPatch, Stance, StorageVersionHash, Ttl, Uid, Verdict, VersionSet, Violation,
    Violations, WallTime, apiserver_id, sort_and_fold_equivalents,
};
