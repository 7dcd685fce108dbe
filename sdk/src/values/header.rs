//! The header of every answer.

use std::time::Duration;

use synod_model::{ClusterId, Revision};
use synod_proto::{messages, v1};

/// The replica and cluster that answered, and the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The cluster. A restore makes a new id: epochs and sessions of another cluster do not hold here.
    pub cluster: ClusterId,
    /// The replica that answered.
    pub replica_id: u64,
    /// For a read: the revision of the state that was read. For a change: the revision of the store right after the
    /// command, at its first execution. A watch from the next revision on misses nothing.
    pub revision: Revision,
    /// The Raft term that the replica is in, for display.
    pub raft_term: u64,
    /// The age of the answer, if the read allowed one.
    pub age: Option<Duration>,
}

messages! {
    v1::ResponseHeader = Header: "every replica sets it" {
        cluster = cluster_id,
        replica_id = replica_id,
        revision = revision,
        raft_term = raft_term,
        age = age_ms,
    }
}
