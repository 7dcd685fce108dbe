//! A summary of consensus for status pages and metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_machine::Digest;
use synod_store::LogStatus;

use super::facade::Consensus;
use super::timing::Timed;
use super::types::position_of;
use super::{Leadership, Position, ReplicaAddress, ReplicaId};

/// The state of consensus as this replica knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// This replica.
    pub replica: ReplicaId,
    /// Who leads, as far as this replica knows.
    pub leadership: Leadership,
    /// The index of the last entry in this replica's log.
    pub last_log_index: Option<u64>,
    /// The last entry that this replica knows to be committed.
    pub committed: Option<Position>,
    /// The last entry that this replica has applied.
    pub applied: Option<Position>,
    /// The last entry that this replica's newest checkpoint covers.
    pub checkpoint: Option<Position>,
    /// The last entry that was purged from this replica's log.
    pub purged: Option<Position>,
    /// The replica set.
    pub replicas: BTreeMap<ReplicaId, ReplicaStatus>,
    /// The entry that made the replica set what it is here. It may not be committed yet.
    pub decided: Option<Position>,
    /// The sets of voters of each of which a majority is needed: two while the set changes.
    pub majorities: Vec<BTreeSet<ReplicaId>>,
}

/// One replica of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// Its peer address and its data directory.
    pub address: ReplicaAddress,
    /// Whether it votes in elections.
    pub voter: bool,
    /// The last entry that its log is known to hold; only the leader knows.
    pub matched: Option<Position>,
}

impl Consensus {
    /// The present status of consensus.
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
            decided: metrics.membership_config.log_id().as_ref().map(position_of),
            majorities: membership.get_joint_config().clone(),
        }
    }

    /// The status of the log on disk.
    #[must_use]
    pub fn log_status(&self) -> LogStatus {
        self.shared.storage.log.status()
    }

    /// Calls `told` with the time that the disk took for each batch of the log.
    pub fn when_flushed(&self, told: impl Fn(Duration) + Send + Sync + 'static) {
        self.shared.storage.log.when_flushed(Box::new(told));
    }

    /// Calls `told` with the duration of each [`Timed`] action. Only the first listener ever registered is called.
    pub fn when_timed(&self, told: impl Fn(Timed, Duration) + Send + Sync + 'static) {
        self.shared.timing.tell(Box::new(told));
    }

    /// The digests that this replica keeps, oldest first.
    #[must_use]
    pub fn digests(&self) -> Vec<(Position, Digest)> {
        self.shared.digests.all()
    }
}
