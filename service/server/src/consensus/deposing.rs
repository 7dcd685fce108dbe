//! A leader whose process has died need not be waited for.
//!
//! When a process is killed, the system closes its connections at once, long before its lease runs out. A follower that
//! loses the leader's connection dials it again: if nobody listens there any more, the follower lets go of the lease and
//! asks for pre-votes. The others grant them only if they let go of their leases too, each by what it saw itself, or
//! after these ran out: one follower's broken connection never deposes a leader that the others still hear.

use std::time::Duration;

use openraft::raft::TransferLeaderRequest;

use super::ReplicaId;
use super::facade::ConsensusParts;
use super::suspicion::refuses;

/// Pre-votes are asked for again after so long: the others may notice a little later.
const ROUND: Duration = Duration::from_millis(15);

/// So many rounds; then the ordinary timers take over.
const ROUNDS: u32 = 20;

/// Looks after each replica that loses a connection. Never ends.
pub(super) async fn depose_the_dead(shared: &ConsensusParts) {
    loop {
        for replica in shared.suspicion.suspects().await {
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
    // Naming somebody else as the one to take over makes openraft let go of the lease, and nothing more.
    let let_go = TransferLeaderRequest::new(vote, leader, None);
    if shared.raft.handle_transfer_leader(let_go).await.is_err() {
        return;
    }
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

/// Whether nobody listens at the replica's address although its host answers.
async fn is_dead(shared: &ConsensusParts, replica: ReplicaId) -> bool {
    let metrics = shared.raft.server_metrics();
    let membership = metrics.borrow().membership_config.clone();
    let Some(address) = membership.membership().get_node(&replica) else {
        return false;
    };
    refuses(&*shared.seams.dialer, &address.peer).await
}
