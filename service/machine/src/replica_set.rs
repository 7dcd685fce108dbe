//! What follows from a change of the replica set.
//!
//! Raft's membership says who is in the set, and its changes are entries of the log like commands, so they are applied at
//! the same position everywhere. The state keeps what membership forgets: which replicas have left.

use crate::hashes::{left_replica_hash, replica_hash};
use crate::{ReplicaId, State};

impl State {
    /// Notes that replicas have left the replica set. What they had announced goes, and nobody gets their ids again: who
    /// comes back under one of them has forgotten, or was never told, what happened since.
    ///
    /// It moves no revision and has no event.
    pub fn replicas_left(&mut self, left: impl IntoIterator<Item = ReplicaId>) {
        for id in left {
            if let Some(row) = self.replicas.remove(&id) {
                self.sum.subtract(replica_hash(id, &row));
            }
            if self.left.insert(id).is_none() {
                self.sum.add(left_replica_hash(id));
            }
        }
    }

    /// Whether the replica was in the replica set and has left it.
    #[must_use]
    pub fn has_left(&self, id: ReplicaId) -> bool {
        self.left.contains(&id)
    }
}
