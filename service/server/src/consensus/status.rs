//! Consensus at a glance, for status pages and metrics.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_machine::Digest;
use synod_store::LogStatus;

use super::facade::Consensus;
use super::timing::Timed;
use super::types::position_of;
use super::{Leadership, Position, ReplicaAddress, ReplicaId};

/// What this replica knows of the log and of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// This replica.
    pub replica: ReplicaId,
    /// Who leads.
    pub leadership: Leadership,
    /// The index of the last entry in its log.
    pub last_log_index: Option<u64>,
    /// The last entry that it knows to be committed.
    pub committed: Option<Position>,
    /// The last entry that it has applied.
    pub applied: Option<Position>,
    /// The last entry that its newest checkpoint holds.
    pub checkpoint: Option<Position>,
    /// The last entry that is no longer in its log.
    pub purged: Option<Position>,
    /// The replica set.
    pub replicas: BTreeMap<ReplicaId, ReplicaStatus>,
}

/// One replica of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// Where it is, and which data directory it has.
    pub address: ReplicaAddress,
    /// Whether it votes.
    pub voter: bool,
    /// The last entry that it is known to hold; only the leader knows.
    pub matched: Option<Position>,
}

impl Consensus {
    /// How consensus is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        let leadership = *self.shared.leadership.borrow();
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        let membership = metrics.membership_config.membership();
        let voters: Vec<ReplicaId> = membership.voter_ids().collect();
        let matched = |id: &ReplicaId| {
            metrics
                .replication
                .as_ref()?
                .get(id)?
                .as_ref()
                .map(position_of)
        };
        let replicas = membership.nodes().map(|(id, address)| {
            let status = ReplicaStatus {
                address: address.clone(),
                voter: voters.contains(id),
                matched: matched(id),
            };
            (*id, status)
        });
        Status {
            replica: self.replica(),
            leadership,
            last_log_index: metrics.last_log_index,
            committed: metrics.local_committed.as_ref().map(position_of),
            applied: metrics.last_applied.as_ref().map(position_of),
            checkpoint: metrics.snapshot.as_ref().map(position_of),
            purged: metrics.purged.as_ref().map(position_of),
            replicas: replicas.collect(),
        }
    }

    /// How the log on disk is doing.
    #[must_use]
    pub fn log_status(&self) -> LogStatus {
        self.shared.log.status()
    }

    /// Has somebody told how long the disk takes for each batch of the log.
    pub fn when_flushed(&self, told: impl Fn(Duration) + Send + Sync + 'static) {
        self.shared.log.when_flushed(Box::new(told));
    }

    /// Has somebody told how long checkpoints and the other replicas take. Only the first one is.
    pub fn when_timed(&self, told: impl Fn(Timed, Duration) + Send + Sync + 'static) {
        self.shared.timing.tell(Box::new(told));
    }

    /// The digests that this replica keeps, oldest first.
    #[must_use]
    pub fn digests(&self) -> Vec<(Position, Digest)> {
        self.shared.digests.all()
    }
}
