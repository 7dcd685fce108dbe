//! Lets followers of a leader whose process has died elect another one before its lease runs out.
//!
//! When a process is killed, the system closes its connections at once. A follower that loses the leader's connection
//! dials the leader: if that is refused, it drops the lease and asks for pre-votes. The others grant them only once
//! they have dropped their leases too, each after its own dial, or these ran out: one broken connection deposes no
//! leader.

use std::time::Duration;

use openraft::raft::TransferLeaderRequest;

use super::ReplicaId;
use super::facade::ConsensusParts;
use super::suspicion::refuses;

/// The pause between two requests for pre-votes: the others may notice the death a little later.
const ROUND: Duration = Duration::from_millis(15);

/// The number of such requests; after them the ordinary election timers take over.
const ROUNDS: u32 = 20;

/// Checks each replica that lost a connection to this one. Never ends.
pub(super) async fn depose_the_dead(shared: &ConsensusParts) {
    loop {
        for replica in shared.lost.take().await {
            depose_if_dead(shared, replica).await;
        }
    }
}

async fn depose_if_dead(shared: &ConsensusParts, leader: ReplicaId) {
    let vote = shared.raft.metrics().borrow().vote;
    if vote.leader_id.node_id != leader || !vote.committed || !is_dead(shared, leader).await {
        return;
    }
    tracing::info!(%leader, term = vote.leader_id.term, "the leader's process is gone: asking for pre-votes");
    // Naming the old leader as the target of a transfer makes openraft drop the lease, and does nothing else.
    let let_go = TransferLeaderRequest::new(vote, leader, None);
    if shared.raft.handle_transfer_leader(let_go).await.is_err() {
        return;
    }
    shared.contact.lose();
    for _ in 0..ROUNDS {
        if shared.raft.metrics().borrow().vote != vote || !shared.ballot.is_open() {
            return;
        }
        if shared.raft.trigger().elect(true).await.is_err() {
            return;
        }
        tokio::time::sleep(ROUND).await;
    }
}

/// Whether the replica's host refuses connections to the replica's address.
async fn is_dead(shared: &ConsensusParts, replica: ReplicaId) -> bool {
    let metrics = shared.raft.server_metrics();
    let membership = metrics.borrow().membership_config.clone();
    let Some(address) = membership.membership().get_node(&replica) else {
        return false;
    };
    refuses(&*shared.seams.dialer, &address.peer).await
}
