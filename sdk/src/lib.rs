//! The Rust client of Synod.

mod board;
mod client;
mod error;
mod gate;
mod kubernetes;
mod membership;
mod read_options;
mod reflector;
pub mod seams;
mod session;
mod transport;
mod values;
mod watch;

pub use client::{
    Client, ClientBuilder, ListMembers, ListStorageVersions, MemberEpoch, MemberPages,
    StorageVersionPages,
};
pub use error::Error;
pub use gate::{Gate, GateLayer, GateService, Permit, Readiness, RequestInfo};
pub use kubernetes::storage_version_hash;
pub use membership::{Ended, JoinOptions, Membership, MembershipState};
pub use read_options::ReadOptions;
pub use reflector::Reflector;
pub use values::{
    AgreementHistory, Alarm, AlarmKind, Changed, ClusterStatus, Drain, Header, Joined, MemberItem,
    MemberPage, MemberView, Outcome, OutcomeAnswer, Renewed, ReplicaRole, ReplicaStatus, Reported,
    ReportedResource, RequestKey, SettingsView, StorageState, StorageVersion, StorageVersionEntry,
    StorageVersionItem, StorageVersionPage, StorageVersionStatus, StorageVersionView,
};
pub use watch::{
    ChangeType, Event, Events, Object, ObjectKind, StorageVersionChange, Watch, WatchFrom,
    WatchMessage, WatchOptions,
};

pub use synod_model::{
    AgreementChange, ApiVersion, BinaryVersion, ClusterId, Condition, ConditionStatus, Current,
    Endpoint, Epoch, ErrorKind, GroupResource, InstanceId, Join, Kind, Labels, LogTime, Member,
    MemberId, Metadata, Persisted, Phase, ReportEntry, Revision, Sequence, SessionId, Settings,
    SettingsPatch, Stance, StorageVersionHash, Ttl, Uid, Verdict, VersionSet, Violation,
    Violations, WallTime, apiserver_id, sort_and_fold_equivalents,
};
