use std::collections::BTreeSet;

use futures::future::select_all;
use synod_tests::free_address;
use tokio::net::TcpListener;

use super::*;

/// Three replicas over loopback, each with its own data directory.
pub(super) struct Cluster {
    set: BTreeMap<ReplicaId, String>,
    pub(super) directories: BTreeMap<ReplicaId, tempfile::TempDir>,
    pub(super) running: BTreeMap<ReplicaId, Running>,
    tune: fn(&mut ConsensusConfig),
}

impl Cluster {
    pub(super) async fn start(tune: fn(&mut ConsensusConfig)) -> Self {
        let mut listeners = BTreeMap::new();
        for id in (1..=3).map(ReplicaId::new) {
            listeners.insert(id, TcpListener::bind(free_address()).await.unwrap());
        }
        let set = listeners
            .iter()
            .map(|(id, listener)| (*id, listener.local_addr().unwrap().to_string()))
            .collect();
        let directories = listeners
            .keys()
            .map(|id| (*id, tempfile::tempdir().unwrap()))
            .collect();
        let mut cluster = Self {
            set,
            directories,
            running: BTreeMap::new(),
            tune,
        };
        for (id, listener) in listeners {
            cluster.run(id, tcp::incoming(listener)).await;
        }
        for running in cluster.running.values() {
            running.formed().await;
        }
        cluster
    }

    async fn run(&mut self, id: ReplicaId, incoming: Incoming) {
        let mut config = ConsensusConfig::new(
            self.directories[&id].path().to_owned(),
            id,
            "three".to_owned(),
        );
        (self.tune)(&mut config);
        let running = Running::start(config, on_real_disk(), self.set.clone(), incoming).await;
        self.running.insert(id, running);
    }

    pub(super) async fn restart(&mut self, id: ReplicaId) {
        let (_, incoming) = tcp::listen(self.set[&id].parse().unwrap()).await.unwrap();
        self.run(id, incoming).await;
    }

    pub(super) async fn stop(&mut self, id: ReplicaId) {
        self.running.remove(&id).unwrap().stop().await;
    }

    pub(super) async fn stop_all(mut self) {
        for id in self.set.keys().copied().collect::<Vec<_>>() {
            if self.running.contains_key(&id) {
                self.stop(id).await;
            }
        }
    }

    pub(super) fn consensus(&self, id: ReplicaId) -> &Consensus {
        &self.running[&id].consensus
    }

    /// Waits until all running replicas agree on a leader that runs.
    pub(super) async fn leader(&self) -> ReplicaId {
        let mut watched: Vec<_> = self
            .running
            .values()
            .map(|running| running.consensus.leadership())
            .collect();
        let agreed = async {
            loop {
                let leaders: BTreeSet<_> = watched
                    .iter_mut()
                    .map(|leadership| leadership.borrow_and_update().leader)
                    .collect();
                match leaders.first().copied().flatten() {
                    Some(leader) if leaders.len() == 1 && self.running.contains_key(&leader) => {
                        return leader;
                    }
                    _ => {
                        let changes = watched
                            .iter_mut()
                            .map(|leadership| Box::pin(leadership.changed()));
                        select_all(changes).await.0.unwrap();
                    }
                }
            }
        };
        within("leader", agreed).await
    }

    /// Has the leadership handed over to `next`. On a busy machine the votes may come too late for the first try.
    pub(super) async fn hand_over(&self, next: ReplicaId) {
        let handed = async {
            loop {
                let leader = self.leader().await;
                if leader == next {
                    return;
                }
                let tried = self.consensus(leader).transfer_leadership(Some(next));
                match tried.await {
                    Ok(()) => return,
                    Err(error) => assert!(
                        matches!(error, TransferError::Timeout | TransferError::NotLeader),
                        "{error}"
                    ),
                }
            }
        };
        within("hand-over", handed).await;
    }

    /// Proposes at the leader until the payload is certain to be executed.
    pub(super) async fn propose(&self, payload: Bytes) -> Arc<AppliedEntry> {
        let proposed = async {
            loop {
                let leader = self.leader().await;
                match self.consensus(leader).propose(payload.clone(), None).await {
                    Ok(applied) => return applied,
                    // Not executed, or perhaps executed: these commands may be executed twice.
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        };
        within("proposal", proposed).await
    }

    /// Waits until every running replica has applied `index`.
    pub(super) async fn all_applied(&self, index: u64) {
        for running in self.running.values() {
            running.consensus.wait_applied(index, soon()).await.unwrap();
        }
    }

    pub(super) fn others(&self, id: ReplicaId) -> Vec<ReplicaId> {
        self.set
            .keys()
            .copied()
            .filter(|other| *other != id)
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_replicas_form_a_set_and_apply_the_same() {
    let cluster = Cluster::start(|_| {}).await;
    let mut last = 0;
    for number in 0..50 {
        last = cluster.propose(join(number)).await.position.index;
    }
    cluster.all_applied(last).await;
    let states: Vec<_> = cluster
        .running
        .values()
        .map(|running| running.consensus.published())
        .collect();
    assert_eq!(states[0].state.digest(), states[1].state.digest());
    assert_eq!(states[1].state.digest(), states[2].state.digest());
    assert_eq!(states[0].state.member_count(), 50);
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_gets_a_read_index_from_the_leader() {
    let cluster = Cluster::start(steady).await;
    let index = cluster.propose(join(1)).await.position.index;
    let leader = cluster.leader().await;
    let follower = cluster.consensus(cluster.others(leader)[0]);
    assert!(
        matches!(follower.read_index().await, Err(ReadIndexError::NotLeader { hint }) if hint == Some(leader))
    );
    let position = follower
        .remote_read_index(leader, Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(position.leader, leader);
    let read = position.index;
    assert!(read >= index);
    let published = follower.wait_applied(read, soon()).await.unwrap();
    assert_eq!(published.state.member_count(), 1);
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_others_go_on_without_the_leader_and_it_catches_up() {
    let mut cluster = Cluster::start(|_| {}).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    cluster.stop(leader).await;
    let mut last = 0;
    for number in 2..20 {
        last = cluster.propose(join(number)).await.position.index;
    }
    cluster.restart(leader).await;
    cluster.all_applied(last).await;
    assert_eq!(
        cluster.consensus(leader).published().state.member_count(),
        19
    );
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_far_behind_gets_a_checkpoint() {
    let mut cluster = Cluster::start(|config| {
        config.checkpoint_entries = 20;
        config.kept_entries = 5;
    })
    .await;
    cluster.propose(join(0)).await;
    let leader = cluster.leader().await;
    let behind = cluster.others(leader)[0];
    cluster.stop(behind).await;
    let mut last = 0;
    for number in 1..200 {
        last = cluster.propose(join(number)).await.position.index;
    }
    cluster.restart(behind).await;
    cluster.all_applied(last).await;
    let published = cluster.consensus(behind).published();
    assert!(published.generation > 0, "a checkpoint was installed");
    let leader = cluster.leader().await;
    assert_eq!(
        published.state.digest(),
        cluster.consensus(leader).published().state.digest()
    );
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_checkpoints_hold_is_cut_from_a_log_of_too_many_bytes_whatever_number_of_entries_is_kept()
 {
    let cluster = Cluster::start(|config| {
        config.checkpoint_entries = 20;
        config.kept_entries = 100_000;
        config.segment_bytes = 4 << 10;
        config.log_bytes = 16 << 10;
    })
    .await;
    let segments = |running: &Running| running.consensus.shared.storage.log.status().segments;
    let mut most = 0;
    for number in 0..400 {
        cluster.propose(join(number)).await;
        most = most.max(segments(&cluster.running[&ReplicaId::new(1)]));
    }
    assert!(most > 4, "{most} segments were never too many");
    let cut = async {
        while cluster.running.values().any(|it| segments(it) > 4) {
            tokio::task::yield_now().await;
        }
    };
    within("end of the older log", cut).await;
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_leadership_is_handed_over_on_request() {
    let cluster = Cluster::start(steady).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    let next = cluster.others(leader)[1];
    cluster.hand_over(next).await;
    assert_eq!(cluster.leader().await, next);
    cluster.propose(join(2)).await;
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiped_replica_ends_instead_of_coming_back_under_its_id() {
    let mut cluster = Cluster::start(|_| {}).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    let wiped = cluster.others(leader)[0];
    cluster.stop(wiped).await;
    cluster
        .directories
        .insert(wiped, tempfile::tempdir().unwrap());
    cluster.restart(wiped).await;
    let fatal = within("end", cluster.consensus(wiped).fatal()).await;
    assert!(
        matches!(fatal, Fatal::WrongDirectory { replica, .. } if replica == wiped),
        "{fatal}"
    );
    cluster.stop(wiped).await;
    cluster.propose(join(2)).await;
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_in_a_minority() {
    let mut cluster = Cluster::start(|_| {}).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    for other in cluster.others(leader) {
        cluster.stop(other).await;
    }
    let alone = cluster.consensus(leader);
    let proposed = tokio::time::timeout(Duration::from_secs(2), alone.propose(join(2), None)).await;
    assert!(!matches!(proposed, Ok(Ok(_))), "{proposed:?}");
    assert!(alone.read_index().await.is_err());
    cluster.stop_all().await;
}

// Guarantee: D-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_may_have_forgotten_votes_only_once_it_has_caught_up() {
    let mut cluster = Cluster::start(|_| {}).await;
    let last = cluster.propose(join(1)).await.position.index;
    cluster.all_applied(last).await;
    let leader = cluster.leader().await;
    let [forgetful, other] = cluster.others(leader)[..] else {
        panic!("three replicas have two followers")
    };
    cluster.stop(forgetful).await;
    cluster.stop(leader).await;
    // The file that recovery leaves behind when it cuts off a record that looked complete.
    let word = cluster.directories[&forgetful]
        .path()
        .join("wal/MUST-CATCH-UP");
    std::fs::write(&word, "").unwrap();
    cluster.restart(forgetful).await;
    let mut leadership = cluster.consensus(other).leadership();
    let elected = leadership.wait_for(|now| now.leader.is_some_and(|id| id != leader));
    let patience = 6 * cluster.consensus(other).election_timeout();
    assert!(
        tokio::time::timeout(patience, elected).await.is_err(),
        "elected by a replica that may not vote"
    );
    assert!(word.exists());
    assert!(!cluster.consensus(forgetful).may_vote());
    assert!(cluster.consensus(other).may_vote());

    cluster.restart(leader).await;
    let last = cluster.propose(join(2)).await.position.index;
    cluster.all_applied(last).await;
    let allowed = async {
        while word.exists() {
            tokio::task::yield_now().await;
        }
    };
    within("right to vote", allowed).await;
    let leader = cluster.leader().await;
    cluster
        .stop(if leader == forgetful { other } else { leader })
        .await;
    cluster.propose(join(3)).await;
    cluster.stop_all().await;
}
