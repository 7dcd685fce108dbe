use openraft::ServerState;
use tokio::runtime::Handle;

use super::three::Cluster;
use super::*;

/// How often the thread of a test went to sleep for each round of heartbeats, and so was woken; `None` if the replica leads no
/// more, which has no rounds.
async fn sleeps_in_a_round(leader: &Consensus) -> Option<u64> {
    const ROUNDS: u64 = 15;
    let parked = || Handle::current().metrics().worker_park_count(0);
    let mut metrics = leader.shared.raft.metrics();
    let (before, mut rounds) = (parked(), 0);
    let mut last = metrics.borrow_and_update().last_quorum_acked;
    while rounds < ROUNDS {
        within("heartbeat", metrics.changed()).await.unwrap();
        let (acked, state) = {
            let seen = metrics.borrow_and_update();
            (seen.last_quorum_acked, seen.state)
        };
        if state != ServerState::Leader {
            return None;
        }
        rounds += u64::from(acked != last);
        last = acked;
    }
    Some((parked() - before) / ROUNDS)
}

/// With openraft's ticks all the time three replicas sleep ten times in a round, and four times without.
#[tokio::test]
async fn openraft_does_not_tick_while_nothing_is_due() {
    let cluster = Cluster::start(|_| ()).await;
    let mut least = u64::MAX;
    for _ in 0..10 {
        let leader = cluster.leader().await;
        let sleeps = sleeps_in_a_round(cluster.consensus(leader)).await;
        least = least.min(sleeps.unwrap_or(u64::MAX));
    }
    assert!(
        least < 8,
        "three replicas slept {least} times in a round of heartbeats"
    );
    cluster.stop_all().await;
}
