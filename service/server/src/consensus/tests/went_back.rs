//! Tests of data directories that go back in time, as those restored from a copy do.

use std::fs;
use std::path::Path;

use futures::future::select_all;

use super::three::Cluster;
use super::*;
use crate::consensus::Term;
use crate::consensus::inbound::InboundError;
use crate::consensus::record::to_store_id;
use crate::consensus::types::{LogId, leader_id, log_id_of};
use crate::peer::LogEnd;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Stops the leader last: the others would elect one of them meanwhile, whose log would then have an entry more.
async fn stop_running(cluster: &mut Cluster) {
    let mut ids: Vec<_> = cluster.running.keys().copied().collect();
    ids.sort_by_key(|id| cluster.consensus(*id).leadership().borrow().is_me);
    for id in ids {
        cluster.stop(id).await;
    }
}

/// Proposes these entries, and returns the index of the last one, which all running replicas have applied.
async fn write(cluster: &Cluster, numbers: std::ops::Range<u64>) -> u64 {
    let mut last = 0;
    for number in numbers {
        last = cluster.propose(join(number)).await.position.index;
    }
    cluster.all_applied(last).await;
    last
}

/// A stopped cluster in which the directories of the replicas `old` lack the last 30 entries.
async fn gone_back(old: &[u64]) -> Cluster {
    let mut cluster = Cluster::start(|_| {}).await;
    write(&cluster, 0..10).await;
    stop_running(&mut cluster).await;
    let ids = || old.iter().copied().map(ReplicaId::new);
    let copies: Vec<_> = ids()
        .map(|id| {
            let kept = tempfile::tempdir().unwrap();
            copy(cluster.directories[&id].path(), kept.path());
            (id, kept)
        })
        .collect();
    for id in (1..=3).map(ReplicaId::new) {
        cluster.restart(id).await;
    }
    write(&cluster, 10..40).await;
    stop_running(&mut cluster).await;
    for (id, kept) in copies {
        cluster.directories.insert(id, kept);
    }
    cluster
}

/// A running cluster of which one follower was away for a moment, this follower, and a copy of its directory from then.
async fn with_a_copy() -> (Cluster, ReplicaId, tempfile::TempDir) {
    let mut cluster = Cluster::start(|_| {}).await;
    write(&cluster, 0..10).await;
    let old = cluster.others(cluster.leader().await)[0];
    cluster.stop(old).await;
    let kept = tempfile::tempdir().unwrap();
    copy(cluster.directories[&old].path(), kept.path());
    cluster.restart(old).await;
    (cluster, old, kept)
}

/// A leader other than `old`, which was away and caught up, and may have been elected on a busy machine all the same.
async fn leader_beside(cluster: &Cluster, old: ReplicaId) -> ReplicaId {
    loop {
        let leader = cluster.leader().await;
        if leader != old {
            return leader;
        }
        cluster.hand_over(cluster.others(old)[0]).await;
    }
}

// Guarantee: D-09
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_with_committed_entries_that_a_leader_lacks_stops_and_keeps_them() {
    let mut cluster = gone_back(&[1, 2]).await;
    for id in [1, 2].map(ReplicaId::new) {
        cluster.restart(id).await;
    }
    // The two old ones elect a leader and write beyond where the third one's log ends.
    write(&cluster, 100..150).await;
    let right = ReplicaId::new(3);
    cluster.restart(right).await;
    // The third one has entries that they lack. If it were elected, they would stop instead, so it may not stand.
    let raft = &cluster.consensus(right).shared.raft;
    raft.runtime_config().elect(false);
    let ends = cluster.running.values();
    let ends = ends.map(|running| Box::pin(running.consensus.fatal()));
    let fatal = within("end", select_all(ends)).await.0;
    let said = fatal.to_string();
    assert!(matches!(fatal, Fatal::Contradicted { .. }), "{said}");
    assert!(said.contains("Keep its data directory"), "{said}");
    assert!(said.contains("synod cluster replace"), "{said}");
    let published = cluster.consensus(right).published();
    let (state, applied) = (&published.state, published.applied.unwrap());
    assert!(state.present().member(&member(39)).is_some());
    assert!(state.present().member(&member(100)).is_none(), "spliced");

    // The leader learns of it, and refuses writes until an operator has acted.
    let doubting = async {
        loop {
            let mut replicas = cluster.running.values().map(|it| &it.consensus);
            if let Some(leader) = replicas.find(|it| it.doubt().is_some()) {
                return leader;
            }
            tokio::task::yield_now().await;
        }
    };
    let leader = within("doubt", doubting).await;
    let refused = leader.propose(join(200), None).await.unwrap_err();
    assert_eq!(refused, ProposeError::NotExecuted(NotExecuted::Doubt));
    // The entry is still there when the third one starts alone.
    stop_running(&mut cluster).await;
    cluster.restart(right).await;
    let kept = cluster
        .consensus(right)
        .shared
        .storage
        .log
        .log_id(applied.index);
    assert_eq!(kept, Some(to_store_id(&log_id_of(&applied))));
    cluster.stop_all().await;
}

// Guarantee: D-11, TM-26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_went_back_is_refused_by_who_remembers_and_its_vote_does_not_count() {
    let (mut cluster, old, kept) = with_a_copy().await;
    let last = write(&cluster, 10..40).await;
    let leader = leader_beside(&cluster, old).await;
    remembers(cluster.consensus(leader), old, last).await;
    stop_running(&mut cluster).await;
    cluster.directories.insert(old, kept);

    // The replica that remembers starts first, and remembers over the restart; with the old one there is no quorum.
    cluster.restart(leader).await;
    cluster.restart(old).await;
    let fatal = within("end", cluster.consensus(old).fatal()).await;
    let said = fatal.to_string();
    assert!(
        matches!(fatal, Fatal::WentBack { replica, by } if replica == old && by == leader),
        "{said}"
    );
    assert!(said.contains("synod cluster replace"), "{said}");
    let alarms = cluster.consensus(leader).went_back();
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert_eq!(alarms[0].0, old);
    assert!(alarms[0].1.contains("synod cluster replace"), "{alarms:?}");
    let mut leadership = cluster.consensus(leader).leadership();
    let elected = leadership.wait_for(|now| now.is_me);
    let patience = 6 * cluster.consensus(leader).election_timeout();
    assert!(
        tokio::time::timeout(patience, elected).await.is_err(),
        "elected by a directory that went back"
    );

    // The third replica makes a quorum, and the old one stays stopped.
    cluster.stop(old).await;
    let third = cluster.others(leader).into_iter().find(|id| *id != old);
    let third = third.unwrap();
    cluster.restart(third).await;
    let raft = &cluster.consensus(third).shared.raft;
    raft.runtime_config().elect(false);
    let last = write(&cluster, 40..50).await;
    cluster.restart(old).await;
    within("end", cluster.consensus(old).fatal()).await;
    let held = cluster.consensus(old).published().applied_index();
    assert!(held < last, "it was served");
    cluster.stop_all().await;
}

// Guarantee: D-11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_only_followed_remembers_what_its_leader_learned() {
    let (mut cluster, old, kept) = with_a_copy().await;
    let last = write(&cluster, 10..40).await;
    let leader = leader_beside(&cluster, old).await;
    let mut others = cluster.others(leader).into_iter();
    let follower = others.find(|id| *id != old).unwrap();
    remembers(cluster.consensus(follower), old, last).await;
    remembers(cluster.consensus(follower), leader, last).await;
    stop_running(&mut cluster).await;
    cluster.directories.insert(old, kept);

    // The leader is gone for good. Without the memory, what it and the old one alone had acknowledged would be lost.
    cluster.restart(follower).await;
    cluster.restart(old).await;
    let fatal = within("end", cluster.consensus(old).fatal()).await;
    assert!(
        matches!(fatal, Fatal::WentBack { replica, by } if replica == old && by == follower),
        "{fatal}"
    );
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lies_beyond_the_end_and_is_of_an_earlier_term_is_of_another_history() {
    let cluster = Cluster::start(steady).await;
    let last = write(&cluster, 0..10).await;
    let follower = cluster.others(cluster.leader().await)[0];
    let shared = &cluster.consensus(follower).shared;
    let vote = shared.raft.metrics().borrow().vote;
    let at = |term, index| LogId {
        leader_id: leader_id(Term::new(term), ReplicaId::new(1)),
        index,
    };
    let later = std::iter::once(at(1_000, last + 500));
    let from = ReplicaId::new(2);
    assert_eq!(shared.ensure_agrees(from, &vote, later), Ok(()));
    // A checkpoint beyond this log's end cannot be compared with an entry, only by its term.
    let earlier = std::iter::once(at(0, last + 500));
    assert_eq!(
        shared.ensure_agrees(from, &vote, earlier),
        Err(InboundError::Contradicted)
    );
    let fatal = within("end", cluster.consensus(follower).fatal()).await;
    assert!(matches!(fatal, Fatal::Contradicted { .. }), "{fatal}");
    cluster.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_says_where_a_log_ended_before_it_grew_is_no_proof() {
    let cluster = Cluster::start(steady).await;
    let last = write(&cluster, 0..10).await;
    let leader = cluster.leader().await;
    let other = cluster.others(leader)[0];
    remembers(cluster.consensus(leader), other, last).await;
    let directory = cluster.consensus(other).identity().directory;
    // A call that was sent before the log held anything, and is read only now.
    let asked = cluster
        .consensus(leader)
        .ensure_holds(other, directory, LogEnd::Empty);
    assert_eq!(within("an answer", asked).await, Ok(()));
    assert_eq!(cluster.consensus(leader).went_back(), []);
    write(&cluster, 10..20).await;
    cluster.stop_all().await;
}

/// Waits until `consensus` remembers that a replica held the entry at this index.
async fn remembers(consensus: &Consensus, replica: ReplicaId, index: u64) {
    let remembered = async {
        while consensus
            .remembered(replica)
            .is_none_or(|held| held < index)
        {
            tokio::task::yield_now().await;
        }
    };
    within("memory", remembered).await;
}
