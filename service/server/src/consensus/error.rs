//! The errors of consensus. "Certainly not executed" and "perhaps executed" are never the same error.

use super::ReplicaId;

/// Why a proposal has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// This replica does not lead, or not in the term that was asked for. Certainly not executed.
    #[error("this replica does not lead{}", hint_text(*hint))]
    NotLeader {
        /// Who leads, as far as this replica knows.
        hint: Option<ReplicaId>,
    },
    /// This replica leads, but takes no proposals now. Certainly not executed.
    #[error("not executed: {0}")]
    NotExecuted(NotExecuted),
    /// The entry was written, but the leadership changed before it was known to be committed: it may still commit.
    #[error("the leadership changed; the entry may or may not be committed")]
    Unknown,
    /// This replica is stopping and has not taken the proposal. Certainly not executed.
    #[error("this replica is stopping")]
    Stopped,
}

/// Why a leader does not take proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotExecuted {
    /// No quorum has answered the leader for longer than an election timeout.
    #[error("the leader is not answered by a quorum")]
    NoQuorum,
    /// The leader is handing the leadership over.
    #[error("the leadership is being handed over")]
    Transferring,
    /// The replicas' states differ, and no majority agrees.
    #[error("the replicas' states differ and no majority agrees: writes are refused")]
    Doubt,
}

/// Why there is no read index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadIndexError {
    /// This replica does not lead.
    #[error("this replica does not lead{}", hint_text(*hint))]
    NotLeader {
        /// Who leads, as far as this replica knows.
        hint: Option<ReplicaId>,
    },
    /// This replica leads, and no quorum answered it in time.
    #[error("the leader was not answered by a quorum in time")]
    NoQuorum,
    /// This replica is stopping.
    #[error("this replica is stopping")]
    Stopped,
}

/// Why waiting for an entry to be applied ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// The deadline passed.
    #[error("the deadline passed before the entry was applied here")]
    DeadlineExceeded,
    /// This replica is stopping.
    #[error("this replica is stopping")]
    Stopped,
}

/// The most entries that a replica may lack to be handed the leadership.
pub(super) const HAND_OVER_ENTRIES_MAX: u64 = 1_000;

/// Why the leadership was not handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    /// This replica does not lead.
    #[error("this replica does not lead")]
    NotLeader,
    /// The target is not another voting replica, or there is none.
    #[error("there is no such other replica to take over")]
    NoTarget,
    /// The target, or every other voter if none was named, does not answer within two heartbeats.
    #[error("replica {0} does not answer")]
    Silent(ReplicaId),
    /// The target may have lost the end of its log, and does not stand for election before it has caught up; or it does not say
    /// where its log ends.
    #[error("replica {0} lost the end of its log and has not caught up")]
    CutOff(ReplicaId),
    /// The target lacks so many entries that nobody would lead while it gets them.
    #[error(
        "the log of replica {replica} is {entries} entries behind, and {HAND_OVER_ENTRIES_MAX} are the most"
    )]
    Behind {
        /// The target.
        replica: ReplicaId,
        /// The entries that it lacks.
        entries: u64,
    },
    /// No other replica took over in time.
    #[error("nobody took over in time")]
    Timeout,
    /// This replica is stopping.
    #[error("this replica is stopping")]
    Stopped,
}

/// This replica is stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this replica is stopping")]
pub struct Stopped;

fn hint_text(hint: Option<ReplicaId>) -> String {
    hint.map_or_else(String::new, |leader| format!("; replica {leader} does"))
}
