//! The replicated state of Synod: a pure, total, deterministic machine.
//!
//! [`State::apply`] takes one [`LogEntry`] and answers with data: an [`Outcome`] for each command and the events of
//! each revision it made. Nothing here knows a clock, a disk, a socket, a random source or async code: time and
//! identities arrive inside the log entry. Two replicas that apply the same entries to the same state hold the same
//! rows, the same history and the same [`Digest`], on every platform and for ever; a change of behaviour goes through
//! [`MACHINE_VERSION`].
//!
//! A `State` is a value made of persistent maps: a clone is cheap, so readers, watches and checkpoints hold one while
//! apply goes on.
//!
//! Where to look:
//!
//! - `command_table.rs`: the commands, each as one row; `commands/`: what each does, one file each.
//! - `voting.rs`: the rule of storage versions, what is selected, common and agreed; `topics.rs`: of which kind a topic is.
//! - `equivalents.rs`: the names of stores, and the one under which each is kept.
//! - `leases.rs`: leases, their queues and candidates.
//! - `objects.rs`: collections and objects, their indexes, and the dependents that a deletion leaves.
//! - `migrating.rs`: the rule of migrations, when one is created and when it is aborted.
//! - `switches.rs`: what is refused while a feature is switched off.
//! - `turn.rs`: the only methods by which a command changes the state.
//! - `watched.rs`: the objects that are listed and watched, and what a change of one is.
//! - `history.rs` and `past.rs`: events by revision, and reads of an older revision.
//! - `checkpoint.rs` and `digest.rs`: the state as rows, and the check that the rows are equal on every replica.

#![deny(clippy::wildcard_enum_match_arm)]

mod absences;
mod actors;
mod aftermath;
mod agreement;
mod apply;
mod checkpoint;
mod command;
mod command_table;
mod commands;
mod controller_revisions;
mod deadlines;
mod digest;
mod equivalents;
mod hashes;
mod history;
mod known_encodings;
mod late_writes;
mod leases;
mod log_entry;
mod looks;
mod memberships;
mod migrating;
mod objects;
mod outcome;
mod past;
mod renewal;
mod replica_set;
mod row;
mod rows;
mod safety;
mod sessions;
mod state;
mod statements;
mod stored;
mod switches;
mod tally;
mod topics;
mod turn;
mod upgrade;
mod views;
mod voting;
mod watched;

pub use agreement::{
    AgreementQuery, AgreementVerdict, Obstacle, ResourceAgreement, check_agreement,
    resource_agreement,
};
pub use checkpoint::{CorruptState, DamagedMemory, HashedRow, Loading};
pub use command::{
    AnnounceReplica, CollectGarbage, Command, CommandName, Expire, FollowSwitches, Initialize,
    RaiseMachineVersion, Restore,
};
pub use deadlines::{Deadline, Due, Holder};
pub use digest::Digest;
pub use history::{Compacted, EventScope, History, RevisionEvents, TimeNotKept};
pub use leases::QueuePlace;
pub use log_entry::{Envelope, LogEntry};
pub use objects::{Cursor, Fate, Garbage};
pub use outcome::{
    Answer, Applied, HistoryAnswer, Outcome, OutcomeRow, ReportedResource, RevisionAnswer,
    RevisionOutcome, Written, WrittenHow,
};
pub use past::{OutOfReach, Past};
pub use renewal::Renewal;
pub use row::Row;
pub use rows::{
    Aftermath, ClaimDrain, DirectoryId, EntryRow, Heartbeat, Look, MembershipRow, Observation,
    ProgressRow, ReplicaId, ReplicaRow, ServerEvidence, ShortAbsence, StateStatus, StatementHash,
    StatementRow, StorageStateRow, StorageVersionRow, VersionStatus,
};
pub use safety::{Danger, SafetyVerdict, Why, check_binary, check_drop};
pub use sessions::Recorded;
pub use state::State;
pub use switches::switched_off;
pub use synod_model::MACHINE_VERSION;
pub use upgrade::{LateEncoding, UpgradeCause, UpgradeObstacle, UpgradeVerdict, check_upgrade};
pub use views::{StorageStateView, StorageVersionView};
pub use watched::{Change, ChangeOf, EntryChange, ObjectRef, ObjectRow, Watched};

/// The machine version in force in a new cluster, and the oldest that this build knows: a log that begins under it is
/// applied alike by every build.
pub const MACHINE_VERSION_MIN: u32 = 1;
