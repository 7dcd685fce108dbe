use std::collections::BTreeSet;

use openraft::entry::RaftPayload as _;

use super::three::Cluster;
use super::*;
use crate::consensus::types::{EntryPayload, Membership};
use crate::peer::messages::SetChange;

/// The sets of voters of which each must have a majority, as a replica has them.
fn configs(consensus: &Consensus) -> Vec<BTreeSet<ReplicaId>> {
    let metrics = consensus.shared.raft.server_metrics();
    let stored = metrics.borrow().membership_config.clone();
    stored.membership().get_joint_config().clone()
}

/// Begins to remove a replica, as a leader does that ends before it has written the second half.
async fn begin_to_remove(leader: &Consensus, removed: ReplicaId) {
    let before: BTreeSet<ReplicaId> = leader.replicas().into_keys().collect();
    let mut after = before.clone();
    after.remove(&removed);
    let joint = Membership::new(vec![before, after], leader.replicas()).unwrap();
    let blank = EntryPayload::blank();
    leader
        .shared
        .raft
        .append_membership(joint, blank, [])
        .await
        .unwrap();
    assert_eq!(configs(leader).len(), 2);
}

// Guarantee: S-03
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_a_leader_has_left_half_done_is_finished_by_the_next() {
    let mut cluster = Cluster::start(|_| {}).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    // The others are a majority of both sets without it.
    let removed = leader;
    let turn = Arc::clone(&cluster.consensus(leader).shared.changing);
    let turn = turn.lock_owned().await;
    begin_to_remove(cluster.consensus(leader), removed).await;
    cluster.stop(leader).await;
    drop(turn);
    let next = cluster.leader().await;
    let consensus = cluster.consensus(next).clone();
    let finished = async {
        while configs(&consensus).len() > 1 {
            tokio::task::yield_now().await;
        }
    };
    within("the end of the change", finished).await;
    assert!(!configs(&consensus)[0].contains(&removed));
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_thing_that_a_change_does_is_to_finish_the_one_before() {
    let cluster = Cluster::start(steady).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    let [removed, stays] = cluster.others(leader)[..] else {
        panic!("there are three replicas")
    };
    let consensus = cluster.consensus(leader);
    let turn = Arc::clone(&consensus.shared.changing);
    let turn = turn.lock_owned().await;
    begin_to_remove(consensus, removed).await;
    drop(turn);
    let change = SetChange::Remove { replica: removed };
    let changed = consensus.change_set_here(change.clone(), soon()).await;
    assert_eq!(changed, Ok(false), "the change before has removed it");
    assert!(consensus.published().state.has_left(removed));
    assert_eq!(configs(consensus), [BTreeSet::from([leader, stays])]);
    let again = consensus.change_set_here(change, soon()).await;
    assert_eq!(again, Ok(false));
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_removed_hands_the_leadership_over_and_says_who_leads() {
    let cluster = Cluster::start(steady).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    let change = SetChange::Remove { replica: leader };
    let gave_way = cluster
        .consensus(leader)
        .change_set_here(change.clone(), soon());
    let Err(SetError::NotLeader { hint: Some(next) }) = gave_way.await else {
        panic!("it does not remove itself")
    };
    assert_ne!(next, leader);
    let removed = cluster
        .consensus(next)
        .change_set_here(change, soon())
        .await;
    assert_eq!(removed, Ok(true));
    let told = within("the end of the removed", cluster.consensus(leader).fatal()).await;
    assert!(
        matches!(told, Fatal::Left { replica, .. } if replica == leader),
        "{told}"
    );
    cluster.stop_all().await;
}

// Guarantee: S-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_left_is_not_connected_to_any_more() {
    let cluster = Cluster::start(steady).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    let [removed, stays] = cluster.others(leader)[..] else {
        panic!("there are three replicas")
    };
    let consensus = cluster.consensus(leader);
    let set = consensus.replicas();
    let (gone, kept) = (&set[&removed].peer, &set[&stays].peer);
    let connected = consensus.peers().addresses();
    assert!(
        connected.contains(gone) && connected.contains(kept),
        "{connected:?}"
    );
    let change = SetChange::Remove { replica: removed };
    assert_eq!(consensus.change_set_here(change, soon()).await, Ok(true));
    let let_go = async {
        while consensus.peers().addresses().contains(gone) {
            tokio::task::yield_now().await;
        }
    };
    within("the end of the connection", let_go).await;
    assert!(consensus.peers().addresses().contains(kept));
    cluster.stop_all().await;
}

// Guarantee: S-02, TM-32
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_number_of_a_replica_that_has_left_is_not_given_again() {
    let cluster = Cluster::start(steady).await;
    cluster.propose(join(1)).await;
    let leader = cluster.leader().await;
    let removed = cluster.others(leader)[0];
    let consensus = cluster.consensus(leader);
    let change = SetChange::Remove { replica: removed };
    assert_eq!(consensus.change_set_here(change, soon()).await, Ok(true));
    let add = SetChange::Add {
        replica: removed,
        peer: "127.0.0.1:1".to_owned(),
    };
    let Err(SetError::Refused(refusal)) = consensus.change_set_here(add, soon()).await else {
        panic!("it was given")
    };
    assert!(refusal.message.contains("never used again"), "{refusal}");
    cluster.stop_all().await;
}
