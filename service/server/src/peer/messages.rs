//! What replicas say to each other (`synod.peer.v1`): both ends are replicas of one cluster, perhaps of two neighbouring
//! releases. What a release does not know it refuses: a new field comes last, is optional, and is said, as a new variant is, only
//! to who knows it.
//!
//! Who speaks travels in the gRPC metadata of every call, and is checked before the message is looked at:
//! `synod-cluster` (the cluster's name, percent-encoded), `synod-from` and `synod-to` (replica ids),
//! `synod-from-directory` and `synod-to-directory` (directory ids, 32 hexadecimal digits; `to` is left out of `Hello`,
//! which asks for it). `synod-log-end` says where the speaker's log ends, on every call and on the answers to `Hello`,
//! `Vote`, `PreVote`, `Append` and `Digest`: `<term>-<leader>-<index>`, or `-` for an empty log. A speaker that knows
//! that it may have lost something, and does not vote, leaves it out. One that lacks what it had acknowledged is refused.

use std::time::Duration;

use bytes::Bytes;
use synod_machine::{Digest, Outcome};
use synod_model::{ClusterId, stored, stored_empty, stored_variants};
use synod_store::payload::{CheckpointMeta, LogPayload};
use synod_store::{LogId, Vote};

use crate::consensus::{DirectoryId, Position, ReplicaId};
use crate::proposer::lane::Lane;

/// Asks a replica who it is: the only call that may be made before the replica set is formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloRequest {}

/// Who a replica is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloResponse {
    /// Its id.
    pub replica: ReplicaId,
    /// The identity of its data directory.
    pub directory: DirectoryId,
    /// The name of its cluster.
    pub cluster_name: String,
    /// Whether its log holds anything: a replica set was formed with it.
    pub initialized: bool,
    /// The identity of its cluster; `None` as long as it has not applied the first command.
    pub cluster: Option<ClusterId>,
    /// The lowest machine version that it knows.
    pub machine_version_min: u32,
    /// The highest machine version that it knows.
    pub machine_version_max: u32,
    /// The version of its program, for display.
    pub version: String,
}

/// Asks for a vote in an election, or whether one would be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteRequest {
    /// The vote that is asked for.
    pub vote: Vote,
    /// The candidate's last log position; `None` if its log is empty.
    pub last: Option<LogId>,
    /// True if the leader asked the candidate to take over: its lease does not stand in the way.
    pub leadership_transfer: bool,
}

/// Grants a vote or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteResponse {
    /// The vote that the replica holds after the request.
    pub vote: Vote,
    /// The replica's last log position; `None` if its log is empty.
    pub last: Option<LogId>,
    /// Whether it was granted.
    pub granted: bool,
}

/// Appends to the log. Without entries: a heartbeat. Appends are answered in the order of the requests; the stream ends
/// after `Conflict` or `HigherVote`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendRequest {
    /// The leader's vote.
    pub vote: Vote,
    /// The position right before the entries; `None` at the beginning of the log.
    pub prev: Option<LogId>,
    /// What is committed; `None` if nothing is.
    pub committed: Option<LogId>,
    /// The entries, in order.
    pub entries: Vec<(LogId, LogPayload)>,
    /// The CRC32C of the commands at `prev`, on the first request of a stream. `None` if there are none, or the leader no
    /// longer has them. A follower that has other commands there refuses: votes and logs went back in time together.
    pub prev_checksum: Option<u32>,
}

/// What became of one append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendResponse {
    /// The log agrees with the leader's up to here, and is stored; `None` if it is empty.
    Matched(Option<LogId>),
    /// The log does not hold this position, the request's `prev`.
    Conflict(LogId),
    /// The replica has granted a higher vote.
    HigherVote(Vote),
}

/// A part of the whole state, which goes to a replica that is too far behind: one `Begin`, the data in order, one `End`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointPart {
    /// The first message.
    Begin {
        /// The leader's vote.
        vote: Vote,
        /// The identity of the cluster.
        cluster: ClusterId,
        /// What the checkpoint holds.
        meta: CheckpointMeta,
    },
    /// A chunk.
    Data {
        /// How many bytes came before it in all chunks: they come in order and without gaps.
        offset: u64,
        /// The rows of the state, each a stored [`synod_machine::Row`] after its length; 1 byte to 8 MiB, usually 1 MiB.
        data: Bytes,
    },
    /// The last message.
    End {
        /// How many bytes all chunks had. The rows carry a digest of the whole state, which is checked as well.
        length: u64,
    },
}

/// What became of the checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointResponse {
    /// The vote that the replica holds. Higher than the leader's: it has not installed the checkpoint.
    pub vote: Vote,
}

/// Tells a replica to take over at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferRequest {
    /// The leader's vote.
    pub from: Vote,
    /// Who shall take over. Other replicas only stop to protect the leader.
    pub to: ReplicaId,
    /// The log position that the new leader must hold; `None` if the log is empty.
    pub last: Option<LogId>,
}

/// Whether the replica takes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferResponse {
    /// It does.
    Accepted,
    /// It does not: its vote is another one.
    VoteChanged {
        /// The vote that the request named.
        expected: Vote,
        /// The vote that the replica holds.
        actual: Vote,
    },
    /// It does not: its log is not that far.
    LogNotFlushed {
        /// The position that the request named; `None` if it named none.
        expected: Option<LogId>,
        /// The position that the replica holds; `None` if its log is empty.
        actual: Option<LogId>,
    },
}

/// Asks the leader for a log position that holds everything acknowledged before the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadIndexRequest {}

/// A read index, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadIndexResponse {
    /// A state that has applied this position holds everything acknowledged before the call.
    At(Position),
    /// The replica does not lead. Who does, as far as it knows.
    NotLeader(Option<ReplicaId>),
    /// The replica leads and was not answered by a quorum in time.
    NoQuorum,
}

/// A batch of commands for the leader. Batches are answered in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardRequest {
    /// The number of the batch in its stream.
    pub batch: u64,
    /// How the commands are let in. A stream carries one lane only.
    pub lane: Lane,
    /// How long the batch is worth anything, from its arrival.
    pub timeout: Duration,
    /// The commands, each a stored [`synod_machine::Envelope`]; 1 to 4,096, together at most 1 MiB unless it is a single
    /// one. The batch goes into one log entry, whole and in this order.
    pub commands: Vec<Bytes>,
    /// What the requests behind the commands are called in the logs: one for each command, in their order, or none.
    pub traces: Vec<String>,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardResponse {
    /// The number of the batch.
    pub batch: u64,
    /// What the leader says of it.
    pub verdict: BatchVerdict,
}

/// What a leader says of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchVerdict {
    /// All of it was executed.
    Executed {
        /// The log entry that holds the batch: the follower answers once it has applied this itself.
        at: Position,
        /// One for each command, in their order.
        outcomes: Vec<Outcome>,
    },
    /// None of it was executed, and never will be by this attempt.
    NotExecuted {
        /// Why.
        reason: NotExecutedReason,
        /// Who leads, as far as the replica knows, where it does not.
        leader: Option<ReplicaId>,
        /// The same in words.
        message: String,
    },
    /// Some of it may have been executed, or may still be: why, in words.
    Unknown(String),
    /// Nothing more is taken from the stream. It comes last, and concerns no single batch: all that were sent and not
    /// answered before it were not executed. A stream that ends without it, broke.
    Ended,
}

impl BatchVerdict {
    /// None of the batch was executed.
    pub(crate) fn not_executed(reason: NotExecutedReason, message: impl Into<String>) -> Self {
        Self::NotExecuted {
            reason,
            leader: None,
            message: message.into(),
        }
    }

    /// None of the batch was executed: this replica does not lead.
    pub(crate) fn not_leader(leader: Option<ReplicaId>) -> Self {
        Self::NotExecuted {
            reason: NotExecutedReason::NotLeader,
            leader,
            message: "this replica does not lead".to_owned(),
        }
    }
}

/// Why a batch was not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExecutedReason {
    /// The replica does not lead.
    NotLeader,
    /// It is shutting down.
    Shutdown,
    /// The deadline passed before the batch was proposed.
    Deadline,
    /// It has too much to do.
    Overloaded,
    /// It can have nothing executed at present.
    Unavailable,
    /// The batch is not what the protocol says.
    Invalid,
}

/// Asks for the digest that a replica has kept at a log index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestRequest {
    /// The log index of interest.
    pub index: u64,
}

/// The digest at a log index, if it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestResponse {
    /// The position after which the state was taken, and its digest; `None` if the replica has not come there or has not
    /// kept it.
    pub digest: Option<(Position, Digest)>,
    /// How far the logs of replicas had come, as the replica remembers it: only a leader learns it, and all are to
    /// remember.
    pub remembered: Vec<RememberedLog>,
}

/// What is remembered of the log of a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedLog {
    /// The data directory that the log is in.
    pub directory: DirectoryId,
    /// The replica that has it.
    pub replica: ReplicaId,
    /// A committed entry that was on its disk.
    pub held: LogId,
    /// Whether its log ended before that entry later.
    pub went_back: bool,
}

stored_empty! { HelloRequest ReadIndexRequest }

stored! {
    AppendRequest { vote, prev, committed, entries, prev_checksum }
    CheckpointResponse { vote }
    DigestRequest { index }
    DigestResponse { digest, remembered }
    ForwardRequest { batch, lane, timeout, commands, traces }
    ForwardResponse { batch, verdict }
    HelloResponse {
        replica, directory, cluster_name, initialized, cluster, machine_version_min,
        machine_version_max, version,
    }
    RememberedLog { directory, replica, held, went_back }
    TransferRequest { from, to, last }
    VoteRequest { vote, last, leadership_transfer }
    VoteResponse { vote, last, granted }
}

stored_variants! {
    AppendResponse { 1 Matched(last: Option<LogId>), 2 Conflict(at: LogId), 3 HigherVote(vote: Vote) }
    CheckpointPart {
        1 Begin { vote: Vote, cluster: ClusterId, meta: CheckpointMeta },
        2 Data { offset: u64, data: Bytes },
        3 End { length: u64 },
    }
    NotExecutedReason {
        1 NotLeader, 2 Shutdown, 3 Deadline, 4 Overloaded, 5 Unavailable, 6 Invalid,
    }
    ReadIndexResponse { 1 At(at: Position), 2 NotLeader(leader: Option<ReplicaId>), 3 NoQuorum }
    TransferResponse {
        1 Accepted,
        2 VoteChanged { expected: Vote, actual: Vote },
        3 LogNotFlushed { expected: Option<LogId>, actual: Option<LogId> },
    }
    BatchVerdict {
        1 Executed { at: Position, outcomes: Vec<Outcome> },
        2 NotExecuted { reason: NotExecutedReason, leader: Option<ReplicaId>, message: String },
        3 Unknown(why: String),
        4 Ended,
    }
}

#[cfg(test)]
mod tests;
