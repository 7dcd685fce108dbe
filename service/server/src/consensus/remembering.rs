//! Finds data directories that went back in time, by what the replicas remember of each other's logs.
//!
//! A leader knows what each replica, itself included, has on its disk. It remembers the committed part, also over
//! restarts, and tells the others when they compare digests: a log that held a committed entry never ends before it
//! again, in the order of terms, leaders and indexes, unless its disk lost it. Every call and every answer between
//! replicas says where the sender's log ends. A directory is refused for good if an answer shows that its log ends
//! before what was remembered when the question was sent: nothing is sent to it, its votes are neither asked for nor
//! counted, and its process ends. A replaced replica has another directory, of which nothing is remembered.
//!
//! Only an answer is proof. A call says where the caller's log ended when it was sent; until it is read that log may
//! have grown, and its growth been remembered. A caller that asks for votes with too early an end is therefore asked
//! back.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_store::peers::Remembered;

use super::facade::{Consensus, ConsensusParts};
use super::inbound::InboundError;
use super::memory::is_before;
use super::types::LogId;
use super::{DirectoryId, ReplicaId};
use crate::peer::{LogEnd, PeerError, Refusal};

/// How often new memories are written to disk. Nothing waits for that.
const PERIOD: Duration = Duration::from_secs(1);

/// How long a replica has to answer where its log ends.
const QUESTION_MAX: Duration = Duration::from_secs(1);

/// Remembers what a leader learns about the logs of the replicas. Never ends.
pub(super) async fn keep(shared: &ConsensusParts) {
    loop {
        tokio::time::sleep(PERIOD).await;
        let (set, held) = learned(shared);
        if !set.is_empty() {
            shared.memory.note(&set, &held);
        }
        let memory = shared.memory.clone();
        if let Err(error) = shared.seams.offload.run(move || memory.save()).await {
            tracing::warn!(%error, "cannot write down how far the other replicas have come");
        }
    }
}

/// The replicas of the set, and, if this replica leads, the last committed entry that each log holds.
fn learned(
    shared: &ConsensusParts,
) -> (BTreeMap<ReplicaId, DirectoryId>, BTreeMap<ReplicaId, LogId>) {
    let server = shared.raft.server_metrics();
    let membership = server.borrow().committed_membership_config.clone();
    let nodes = membership.membership().nodes();
    let set = nodes
        .map(|(id, address)| (*id, address.directory))
        .collect();
    let metrics = shared.raft.metrics();
    let metrics = metrics.borrow();
    let (Some(replication), Some(committed)) = (&metrics.replication, &metrics.cluster_committed)
    else {
        return (set, BTreeMap::new());
    };
    // Both are positions in this leader's log.
    let held = replication.iter().filter_map(|(id, matched)| {
        let matched = matched.as_ref()?;
        let held = if matched.index <= committed.index {
            matched
        } else {
            committed
        };
        Some((*id, *held))
    });
    (set, held.collect())
}

impl Consensus {
    /// The index up to which a replica is known to have held committed entries, as written to disk.
    #[cfg(test)]
    pub(super) fn remembered(&self, replica: ReplicaId) -> Option<u64> {
        self.shared.memory.written(replica)
    }

    /// Whether this directory is known to have gone back in time.
    pub(crate) fn has_gone_back(&self, directory: DirectoryId) -> bool {
        let remembered = self.shared.memory.of(directory);
        remembered.is_some_and(|remembered| remembered.went_back)
    }

    /// Checks the log of a replica that asks for a vote. If the log's end as stated in the call is before what is
    /// remembered, asks the replica back.
    pub(crate) async fn ensure_holds(
        &self,
        replica: ReplicaId,
        directory: DirectoryId,
        end: LogEnd,
    ) -> Result<(), InboundError> {
        let remembered = self.shared.memory.of(directory);
        if !remembered.is_some_and(|remembered| is_before(end, &remembered)) {
            return Ok(());
        }
        let address = self.address(replica).ok_or(InboundError::Unproved)?;
        let link = self.shared.peers.link(replica, &address);
        match link.digest(0, QUESTION_MAX).await {
            Ok(_) => Ok(()),
            Err(PeerError::WentBack) => Err(InboundError::Refused(Refusal::CallerWentBack)),
            Err(_) => Err(InboundError::Unproved),
        }
    }

    /// The replicas whose data directories went back in time and are refused, each with what to do.
    #[must_use]
    pub fn went_back(&self) -> Vec<(ReplicaId, String)> {
        let told = |peer: Remembered| {
            let Remembered { replica, held, .. } = peer;
            let text = format!(
                "the data directory of replica {replica} went back in time: it had acknowledged {held} and its log ended \
                 before that later, so it is refused and does not vote; keep its files, and replace it by a fresh one \
                 (`synod cluster replace`)"
            );
            (ReplicaId::new(replica), text)
        };
        self.shared
            .memory
            .went_back()
            .into_iter()
            .map(told)
            .collect()
    }
}
