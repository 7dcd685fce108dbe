//! The messages of `synod.peer.v1`, the protocol between replicas of one cluster, perhaps of two neighbouring releases.
//! A replica refuses what its release does not know. So a new field comes last and is optional, and a new field or
//! variant is sent only to replicas that know it.
//!
//! The identities of both ends travel in the gRPC metadata of every call, and are checked before the message is read:
//! `synod-cluster` (the cluster's name, percent-encoded), `synod-from` and `synod-to` (replica ids),
//! `synod-from-directory` and `synod-to-directory` (directory ids, 32 hexadecimal digits; `Hello` leaves out both
//! `to`). `synod-log-end` says where the sender's log ends, on every call and on the answers to `Hello`, `Vote`,
//! `PreVote`, `Append` and `Digest`: `<term>-<leader>-<index>`, or `-` for an empty log. A sender that may have lost
//! entries, and so does not vote, leaves it out. A sender whose log lacks entries that it had acknowledged is refused.

use std::time::Duration;

use bytes::Bytes;
use synod_machine::{Digest, Outcome};
use synod_model::{ClusterId, Refusal, stored, stored_empty, stored_variants};
use synod_store::payload::{CheckpointMeta, LogPayload};
use synod_store::{LogId, Vote};

use crate::consensus::{DirectoryId, Position, ReplicaId};
use crate::proposer::lane::Lane;

/// Asks a replica for its identity: the only call that may be made before the replica set is formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloRequest {}

/// The identity of a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloResponse {
    /// The replica's id.
    pub replica: ReplicaId,
    /// The id of the replica's data directory.
    pub directory: DirectoryId,
    /// The name of the cluster.
    pub cluster_name: String,
    /// Whether the replica's log or state holds an entry, so that a replica set was formed with it.
    pub initialized: bool,
    /// The id of the cluster; `None` until the replica has applied the cluster's first command.
    pub cluster: Option<ClusterId>,
    /// The lowest machine version that the replica knows.
    pub machine_version_min: u32,
    /// The highest machine version that the replica knows.
    pub machine_version_max: u32,
    /// The version of the replica's program, for display.
    pub version: String,
}

/// Asks for a vote in an election, or, as a pre-vote, whether it would be granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteRequest {
    /// The vote that is asked for.
    pub vote: Vote,
    /// The candidate's last log position; `None` if its log is empty.
    pub last: Option<LogId>,
    /// True if the leader asked the candidate to take over: then the leader's lease does not prevent the vote.
    pub leadership_transfer: bool,
}

/// The answer to a request for a vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoteResponse {
    /// The vote that the replica holds after the request.
    pub vote: Vote,
    /// The replica's last log position; `None` if its log is empty.
    pub last: Option<LogId>,
    /// Whether the vote was granted.
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
    /// The last committed entry; `None` if there is none.
    pub committed: Option<LogId>,
    /// The entries, in order.
    pub entries: Vec<(LogId, LogPayload)>,
    /// The CRC32C of the commands at `prev`, on the first request of a stream. `None` if there are none, or the leader
    /// no longer has them. A follower with other commands there refuses: votes and logs went back in time together.
    pub prev_checksum: Option<u32>,
}

/// The outcome of one append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendResponse {
    /// The follower's log agrees with the leader's up to here, and is stored; `None` if it is empty.
    Matched(Option<LogId>),
    /// The follower's log does not hold this position, the request's `prev`.
    Conflict(LogId),
    /// The replica has granted a higher vote.
    HigherVote(Vote),
}

/// A part of a checkpoint for a replica that is too far behind: one `Begin`, the data in order, one `End`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointPart {
    /// The first message.
    Begin {
        /// The leader's vote.
        vote: Vote,
        /// The id of the cluster.
        cluster: ClusterId,
        /// The entry and the replica set that the checkpoint reaches up to.
        meta: CheckpointMeta,
    },
    /// A chunk.
    Data {
        /// The number of bytes in all chunks before this one: chunks come in order and without gaps.
        offset: u64,
        /// The rows of the state, each a stored [`synod_machine::Row`] after its length; 1 byte to 8 MiB, usually 1.
        data: Bytes,
    },
    /// The last message.
    End {
        /// The number of bytes in all chunks. The rows carry a digest of the whole state, which is checked as well.
        length: u64,
    },
}

/// The answer to a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointResponse {
    /// The vote that the replica holds. If it is higher than the leader's, the checkpoint was not installed.
    pub vote: Vote,
}

/// Tells a replica to stand for election at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferRequest {
    /// The leader's vote.
    pub from: Vote,
    /// The replica that is to take over. Every other replica only drops the leader's lease.
    pub to: ReplicaId,
    /// The log position that the new leader must hold; `None` if the log is empty.
    pub last: Option<LogId>,
}

/// Whether the replica accepts the transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferResponse {
    /// The replica takes over.
    Accepted,
    /// Refused: the replica's vote is another one.
    VoteChanged {
        /// The vote that the request named.
        expected: Vote,
        /// The vote that the replica holds.
        actual: Vote,
    },
    /// Refused: the replica's log does not reach the position.
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
    /// The replica does not lead. Names the leader as far as it is known.
    NotLeader(Option<ReplicaId>),
    /// The replica leads, but no quorum answered it in time.
    NoQuorum,
}

/// A batch of commands for the leader. Batches are answered in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardRequest {
    /// The number of the batch in its stream.
    pub batch: u64,
    /// The lane of the proposer. A stream carries one lane only.
    pub lane: Lane,
    /// How long the caller waits, from the arrival of the batch.
    pub timeout: Duration,
    /// The commands, each a stored [`synod_machine::Envelope`]; 1 to 4,096, together at most 1 MiB unless there is only
    /// one. The batch goes into one log entry, whole and in this order.
    pub commands: Vec<Bytes>,
    /// The trace ids of the requests behind the commands, for logs: one for each command, in their order, or none.
    pub traces: Vec<String>,
    /// The spans of the requests behind the commands, each as a `traceparent` of the W3C, empty where a request has none: one
    /// for each command, in their order, or none. A follower without traces leaves it out.
    pub callers: Vec<String>,
    /// What vendors say of those spans, each as a `tracestate` of the W3C, empty where they say nothing: one for each of
    /// `callers`, in their order, or none. A follower leaves it out where nothing is said of any.
    pub caller_states: Vec<String>,
}

/// The answer to a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardResponse {
    /// The number of the batch.
    pub batch: u64,
    /// What happened to the batch.
    pub verdict: BatchVerdict,
}

/// What happened to a batch at the leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchVerdict {
    /// All of it was executed.
    Executed {
        /// The log entry that holds the batch: the follower answers its callers once it has applied this entry itself.
        at: Position,
        /// One for each command, in their order.
        outcomes: Vec<Outcome>,
    },
    /// None of it was executed, and none will be by this attempt.
    NotExecuted {
        /// The reason.
        reason: NotExecutedReason,
        /// Who leads, as far as the replica knows; set when the replica does not lead.
        leader: Option<ReplicaId>,
        /// The reason in words.
        message: String,
    },
    /// Some of it may have been executed, or may still be. Says why, in words.
    Unknown(String),
    /// The leader takes no more batches from the stream. This message comes last and concerns no single batch: all
    /// batches sent but not answered before it were not executed. A stream that ends without it was broken off.
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
    /// The replica is shutting down.
    Shutdown,
    /// The deadline passed before the batch was proposed.
    Deadline,
    /// The replica has too much to do.
    Overloaded,
    /// The replica cannot have anything executed at present.
    Unavailable,
    /// The batch violates the protocol, or nothing is executed before somebody has mended something: it must not be sent again.
    Invalid,
}

/// Asks for the digest that a replica has kept at a log index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestRequest {
    /// The log index of interest.
    pub index: u64,
}

/// The digest at a log index, if it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestResponse {
    /// The last entry of the state, and the digest of the state; `None` if the replica has not applied that index or no
    /// longer keeps its digest.
    pub digest: Option<(Position, Digest)>,
    /// How far the logs of the replicas had come, as far as the replica remembers. Only a leader learns it itself; the
    /// others take it over.
    pub remembered: Vec<RememberedLog>,
}

/// What is remembered of a replica's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedLog {
    /// The data directory that the log is in.
    pub directory: DirectoryId,
    /// The replica with that data directory.
    pub replica: ReplicaId,
    /// The last committed entry known to have been on its disk.
    pub held: LogId,
    /// Whether its log was later seen to end before that entry.
    pub went_back: bool,
}

/// Asks the leader for a change of the replica set, or to hand the leadership over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRequest {
    /// What is asked for. Asked again after it was carried out, it changes nothing.
    pub change: SetChange,
    /// How long the caller waits, from the arrival of the request.
    pub timeout: Duration,
}

/// A change of the replica set, or of its leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetChange {
    /// Add a fresh replica as a learner, which follows the log and does not count for the quorum.
    Add {
        /// Its id, which no replica has had before.
        replica: ReplicaId,
        /// Where the other replicas reach it, as `host:port`.
        peer: String,
    },
    /// Make a learner a voter once it has caught up.
    Promote {
        /// The learner.
        replica: ReplicaId,
        /// A replica that leaves the set in the same change.
        replaces: Option<ReplicaId>,
    },
    /// Let a replica leave the set. The leader hands the leadership over first.
    Remove {
        /// The replica.
        replica: ReplicaId,
    },
    /// Hand the leadership over.
    Lead {
        /// The voter that is to lead; `None`: the one that holds most of the log.
        replica: Option<ReplicaId>,
        /// The replica that is to hand over; `None`: whichever leads.
        from: Option<ReplicaId>,
    },
}

/// What has come of a change of the replica set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetResponse {
    /// It is so now. Says whether anything had to be changed for it.
    Done(bool),
    /// The replica does not lead. Names the leader as far as it is known. Nothing was changed.
    NotLeader(Option<ReplicaId>),
    /// Nothing was changed, for this reason.
    Refused(Refusal),
    /// It may have been carried out.
    Unknown,
}

stored_empty! { HelloRequest ReadIndexRequest }

stored! {
    AppendRequest { vote, prev, committed, entries, prev_checksum }
    CheckpointResponse { vote }
    DigestRequest { index }
    DigestResponse { digest, remembered }
    ForwardRequest { batch, lane, timeout, commands, traces, callers, caller_states }
    ForwardResponse { batch, verdict }
    HelloResponse {
        replica, directory, cluster_name, initialized, cluster, machine_version_min,
        machine_version_max, version,
    }
    RememberedLog { directory, replica, held, went_back }
    SetRequest { change, timeout }
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
    SetChange {
        1 Add { replica: ReplicaId, peer: String },
        2 Promote { replica: ReplicaId, replaces: Option<ReplicaId> },
        3 Remove { replica: ReplicaId },
        4 Lead { replica: Option<ReplicaId>, from: Option<ReplicaId> },
    }
    SetResponse {
        1 Done(changed: bool), 2 NotLeader(leader: Option<ReplicaId>), 3 Refused(refusal: Refusal), 4 Unknown,
    }
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
