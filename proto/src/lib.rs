//! The protocol of the clients: the package [`v1`]. The comments in the sources under `proto/` say what each message
//! and field promises. Messages between replicas and data on their disks have another form, see
//! [`synod_model::stored`](mod@synod_model::stored).
//!
//! A client's request is converted to a typed value only here, once: to a [`Change`] or a query. The conversion finds
//! all faults at once and names each by its path. The conversion back never fails.
//!
//! - [`access`]: what a caller must be granted, and what each request names.
//! - [`status`]: the one table between error kinds and gRPC statuses, both ways.
//! - [`codec`]: how messages are read, with the guard against requests that are huge in memory.
//! - `wire.rs`: the tables of messages, from which both directions follow; `change/` and `query/`: the requests;
//!   `convert/`: the objects in the answers.
//! - [`limits`]: the limits of the protocol, beside those of `synod-model`.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod access;
mod change;
pub mod codec;
mod convert;
pub mod limits;
mod query;
#[cfg(test)]
mod samples;
pub mod status;
pub mod v1;
pub mod wire;

pub use change::{AddReplica, Change, LeaseRenewal, PromoteReplica, RemoveReplica, TransferLeader};
pub use query::{
    AgreementHistory, CollectionCursor, Consistency, ContinueToken, FindRevisionAt, GetCollection,
    GetMember, GetObject, GetOutcome, GetSettings, GetStorageVersion, ListCollections, ListId,
    ListMembers, ListObjects, ListStorageVersions, ObjectCursor, ObjectScope, PageKey, PageRequest,
    PageStart, TakeBackup, WatchFilter, WatchStart,
};
pub use query::{
    CheckAgreement, CheckBinary, CheckDrop, CheckUpgrade, GetMigration, ListMigrations,
};
pub use query::{
    ControllerHistoryCursor, ControllerRevisionCursor, DiffControllerRevisions,
    GetControllerHistory, GetControllerRevision, ListControllerRevisions,
};
pub use query::{GetLease, ListLeaseCandidates, ListLeases};
pub use query::{GetRoster, ListRosters, SetLogFilter};

/// The encoded `FileDescriptorSet` of [`v1`] with its comments: what server reflection answers.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/synod.v1.binpb"));
