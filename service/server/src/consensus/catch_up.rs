//! Finds out when a replica that may have lost the end of its log has all of it again.

use std::io;
use std::time::Duration;

use openraft::RaftMetrics;

use super::ReplicaId;
use super::cut_off::tell_leader;
use super::facade::ConsensusParts;
use super::types::{LogId, TypeConfig, log_id_of};
use crate::peer::LogEnd;

/// How long the leader has to answer where its log ends.
const QUESTION_MAX: Duration = Duration::from_secs(1);

/// The pause before a leader that did not answer is asked again.
const ASKED_AGAIN: Duration = Duration::from_millis(100);

/// Waits until this replica has everything again that it may have acknowledged, then lets it vote and stand.
///
/// It may have acknowledged entries to the present leader that are not committed yet: the leader counts the acknowledgement
/// although the entries are lost here. The leader's log holds them, so this replica asks where that log ends, and waits until
/// it has applied so much.
///
/// # Errors
///
/// When the disk fails.
pub(super) async fn open_ballot(shared: &ConsensusParts) -> io::Result<()> {
    if shared.ballot.is_open() {
        return Ok(());
    }
    tokio::select! {
        biased;
        opened = open_when_caught_up(shared) => opened,
        () = tell_leader(shared) => Ok(()),
    }
}

async fn open_when_caught_up(shared: &ConsensusParts) -> io::Result<()> {
    let mut metrics = shared.raft.metrics();
    loop {
        // If Raft's task has ended, there are no elections to vote in.
        let Ok(RaftMetrics { vote, .. }) = metrics.wait_for(has_caught_up).await else {
            return Ok(());
        };
        let Some(end) = leader_log_end(shared, vote.leader_id.node_id).await else {
            tokio::time::sleep(ASKED_AGAIN).await;
            continue;
        };
        let decided = metrics
            .wait_for(|latest| latest.vote != vote || latest.last_applied.as_ref() >= Some(&end));
        match decided.await {
            Ok(latest) if latest.vote == vote => break,
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
    }
    // openraft applies entries before they are on the disk. An entry that this replica had acknowledged before it lost it
    // counts for a commit already, so it must not be lost again by a replica that votes.
    shared.storage.all_durable().await?;
    shared.ballot.open()?;
    tracing::info!("caught up with the leader: this replica votes again");
    shared.raft.runtime_config().elect(true);
    Ok(())
}

/// Asks the leader where its log ends. `None` if the leader does not say.
async fn leader_log_end(shared: &ConsensusParts, leader: ReplicaId) -> Option<LogId> {
    let set = shared
        .raft
        .server_metrics()
        .borrow()
        .membership_config
        .clone();
    let address = set.membership().get_node(&leader)?.clone();
    let link = shared.peers.link(leader, &address);
    match link.log_end(QUESTION_MAX).await {
        Ok(LogEnd::At(position)) => Some(log_id_of(&position)),
        Ok(LogEnd::Empty | LogEnd::Unsaid | LogEnd::Cut { .. }) | Err(_) => None,
    }
}

/// Whether this replica has applied everything that was acknowledged before the present leader was elected.
///
/// The leader must have committed an entry of its own term: before that it may announce an earlier commit index than a leader
/// before it, and so may a deposed leader. An entry of the leader's own term follows everything that was acknowledged before.
fn has_caught_up(metrics: &RaftMetrics<TypeConfig>) -> bool {
    let leader = Some(metrics.vote.leader_id).filter(|_| metrics.vote.committed);
    let committed = metrics.cluster_committed.as_ref();
    committed.is_some_and(|committed| Some(committed.leader_id) == leader)
        && metrics.last_applied.as_ref() >= committed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Term;
    use crate::consensus::types::{leader_id, vote_of_store};

    fn at(term: u64, index: u64) -> Option<LogId> {
        Some(LogId {
            leader_id: leader_id(Term::new(term), ReplicaId::new(1)),
            index,
        })
    }

    /// Whether a replica that follows the leader of term 5 has caught up.
    fn caught_up(applied: Option<LogId>, committed: Option<LogId>) -> bool {
        let vote = synod_store::Vote {
            term: 5,
            leader: 1,
            committed: true,
        };
        has_caught_up(&RaftMetrics {
            vote: vote_of_store(&vote),
            cluster_committed: committed,
            last_applied: applied,
            ..RaftMetrics::new_initial(ReplicaId::new(3))
        })
    }

    // Guarantee: D-04
    #[test]
    fn a_replica_has_caught_up_once_it_has_applied_an_entry_of_the_leaders_own_term() {
        assert!(!caught_up(None, None));
        assert!(!caught_up(at(4, 8), at(5, 11)));
        assert!(caught_up(at(5, 11), at(5, 11)));
        assert!(caught_up(at(5, 12), at(5, 11)));
    }

    // Guarantee: D-04
    #[test]
    fn an_earlier_commit_index_of_a_leader_that_was_just_elected_or_deposed_is_not_believed() {
        assert!(!caught_up(at(4, 8), at(4, 8)));
        assert!(!caught_up(at(4, 9), at(4, 8)));
    }
}
