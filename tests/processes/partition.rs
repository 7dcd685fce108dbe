//! Partitions: replicas without a quorum acknowledge nothing and answer no linearizable read.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_client::{Client, ErrorKind, MemberId, ReadOptions};
use synod_proto::v1;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::durability::{check, gap, newest, watch_each};
use crate::keeper::Keeper;
use crate::requests::{Wire, kind};
use crate::waiting::{LIMIT, rounds, within};
use crate::writers::Writers;

/// The deadline of requests to a replica without a quorum.
const PATIENCE: Duration = Duration::from_secs(2);

/// The number of such requests that are sent at once.
const REQUESTS: usize = 8;

/// How often a follower is cut off until the leader stays the same: one that deposes the leader does it each time.
const ATTEMPTS: usize = 3;

/// Short, so that an outage longer than a few elections would make the member expire.
const TTL: Duration = Duration::from_secs(3);

// Guarantee: W-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_cut_off_acknowledges_nothing_and_answers_no_read_that_others_could_contradict()
 {
    let cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut keeper = Keeper::start(cluster.client().await, "kept", TTL).await;
    let mut writers = Writers::start(&cluster).await;
    for round in 0..rounds(2) {
        writers.acknowledge(30).await;
        let leader = cluster.leader().await;
        let cut = Instant::now();
        cluster.links().isolate(leader);
        refuses_everything(&cluster, leader).await;
        let others: BTreeSet<u64> = cluster
            .awake()
            .into_iter()
            .filter(|id| *id != leader)
            .collect();
        let next = cluster.leader_among(&others).await;
        writers.acknowledge(60).await;
        println!(
            "round {round}: replica {leader} was cut off, {next} leads, {}",
            gap(&writers.calls(), cut)
        );
        // Once more, now that the others have committed entries that it does not have.
        refuses_everything(&cluster, leader).await;
        keeper.acknowledge(10).await;
        cluster.links().heal();
        let caught_up = cluster.client_of(leader).await.with_timeout(LIMIT);
        let read = caught_up
            .settings(ReadOptions::min_revision(newest(&writers.calls())))
            .await;
        read.expect("a replica that was cut off comes back");
        cluster.leader().await;
    }
    // Read while it still renews: what is read later may come after its end.
    let client = cluster.client().await.with_timeout(LIMIT);
    keeper.acknowledge(1).await;
    let id = MemberId::parse("kept").expect("it is an id");
    let kept = client.member(&id, ReadOptions::linearizable()).await;
    let kept = kept.expect("it renews all the time").member;
    assert_eq!(kept.epoch, keeper.check().await.epoch);
    check(cluster, writers, watchers).await;
}

/// Sends requests to a replica without a quorum. Each must be refused before its deadline.
async fn refuses_everything(cluster: &Cluster, id: u64) {
    let wire = Wire::to(&cluster.endpoint(id));
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..REQUESTS {
        let wire = wire.clone();
        tasks.spawn(async move {
            if number % 2 == 0 {
                let read = v1::ClusterGetSettingsRequest { read: None };
                kind(wire.cluster().get_settings(impatient(read)).await)
            } else {
                kind(
                    wire.sessions()
                        .open(impatient(v1::SessionsOpenRequest {}))
                        .await,
                )
            }
        });
    }
    while let Some(answer) = within(
        "the answer of a replica without a quorum",
        tasks.join_next(),
    )
    .await
    {
        let answer = answer.expect("it is refused");
        let is_honest = matches!(
            answer,
            ErrorKind::Unavailable
                | ErrorKind::DeadlineExceeded
                | ErrorKind::UnknownOutcome
                | ErrorKind::Overloaded
        );
        assert!(is_honest, "{answer:?}");
    }
    println!(
        "{REQUESTS} requests to replica {id} were refused after {:?}, of {PATIENCE:?}",
        began.elapsed()
    );
    let stale = cluster.client_of(id).await.with_timeout(PATIENCE);
    let stale = stale
        .settings(ReadOptions::max_staleness(Duration::from_millis(1)))
        .await;
    let refused = stale.expect_err("nothing here is that new").kind();
    assert!(
        matches!(
            refused,
            ErrorKind::Unavailable | ErrorKind::DeadlineExceeded
        ),
        "{refused:?}"
    );
    // Reads that accept any revision are answered from the replica's own state.
    let held = cluster
        .client_of(id)
        .await
        .settings(ReadOptions::min_revision(synod_client::Revision::ZERO))
        .await;
    assert_eq!(
        held.expect("its own state can be read").header.replica_id,
        id
    );
}

fn impatient<M>(message: M) -> tonic::Request<M> {
    let mut request = tonic::Request::new(message);
    request.set_timeout(PATIENCE);
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_cut_off_refuses_in_time_and_deposes_nobody_when_it_is_back() {
    let cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    let mut attempts = 0;
    while !comes_back_quietly(&cluster, &mut writers).await {
        attempts += 1;
        assert!(attempts < ATTEMPTS, "the leader changes each time");
    }
    check(cluster, writers, watchers).await;
}

/// Cuts a follower off for a while. Returns whether the same replica leads after that, in the same term: on a busy machine the
/// two others may have let each other wait for too long.
async fn comes_back_quietly(cluster: &Cluster, writers: &mut Writers) -> bool {
    let follower = cluster.follower().await;
    let leader = cluster.leader().await;
    let led = async || {
        let status = cluster.status(leader).await.expect("it answers");
        (status.leader_id, status.header.raft_term)
    };
    let before = led().await;
    assert_eq!(before.0, Some(leader));
    cluster.links().isolate(follower);
    refuses_everything(cluster, follower).await;
    writers.acknowledge(60).await;
    cluster.links().heal();
    let client: Client = cluster.client_of(follower).await.with_timeout(LIMIT);
    client
        .settings(ReadOptions::linearizable())
        .await
        .expect("a follower comes back");
    led().await == before
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_hears_nobody_or_is_heard_by_nobody_gives_way() {
    let cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    for is_deaf in [true, false] {
        writers.acknowledge(30).await;
        let leader = cluster.leader().await;
        let cut = Instant::now();
        for other in cluster.awake().into_iter().filter(|id| *id != leader) {
            let (from, to) = if is_deaf {
                (other, leader)
            } else {
                (leader, other)
            };
            cluster.links().hold(from, to);
        }
        writers.acknowledge(60).await;
        let what = if is_deaf {
            "heard nobody"
        } else {
            "was heard by nobody"
        };
        println!(
            "replica {leader} led and {what}, {}",
            gap(&writers.calls(), cut)
        );
        cluster.links().heal();
        cluster.leader().await;
    }
    check(cluster, writers, watchers).await;
}
