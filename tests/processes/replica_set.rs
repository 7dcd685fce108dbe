//! The replica set changes while clients write: replicas are added, replaced and removed by the command line.

use std::fs;

use synod_client::{Client, ReadOptions, ReplicaRole};

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::commands;
use crate::process::Process;
use crate::waiting::{eventually, within};
use crate::watch_log::compare;
use crate::watcher::Watcher;
use crate::writers::Writers;

/// A replica whose data is gone, and whose process is, is replaced by one command. Nothing that was acknowledged is lost, and
/// the old one cannot come back, with or without its data.
// Guarantee: S-01, S-02, TM-28
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_replica_is_replaced_by_one_command_under_load() {
    let mut cluster = Cluster::start().await;
    let from = agree(&cluster).await.next();
    let mut writers = Writers::start(&cluster).await;
    writers.acknowledge(40).await;
    let lost = cluster.follower().await;
    let others: Vec<u64> = IDS.into_iter().filter(|id| *id != lost).collect();
    let watcher = Watcher::start(
        others.iter().map(|id| cluster.endpoint(*id)).collect(),
        from,
    );
    cluster.kill(lost).await;
    let kept = cluster.data_dir(lost).with_extension("kept");
    fs::rename(cluster.data_dir(lost), &kept).expect("the data can be put aside");
    writers.acknowledge(40).await;

    let peer = cluster.newcomer(4);
    cluster.launch(4);
    let asked = [
        "replace".to_owned(),
        lost.to_string(),
        "4".to_owned(),
        peer.clone(),
    ];
    command(&cluster, &asked).await;
    writers.acknowledge(40).await;
    cluster.serving(4).await;
    assert_eq!(set(&cluster, 4).await, voters(&[others[0], others[1], 4]));
    // Once more it changes nothing.
    command(&cluster, &asked).await;

    for is_empty in [true, false] {
        if !is_empty {
            fs::remove_dir_all(cluster.data_dir(lost)).expect("it is there");
            fs::rename(&kept, cluster.data_dir(lost)).expect("the data can be put back");
        }
        cluster.launch(lost);
        let (status, log) = within("the end of a replica that has left", cluster.ended(lost)).await;
        assert!(!status.success(), "{log}");
        assert!(log.contains("has left the replica set"), "{log}");
    }
    // With the new one alone there is a majority, so it holds what was acknowledged.
    cluster.kill(others[0]).await;
    writers.acknowledge(40).await;
    cluster.restart(others[0]).await;

    let written = writers.stop().await;
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    let log = watcher.log().clone();
    written.check(&cluster, &log).await;
    cluster.finish().await;
}

/// From three replicas to five, to one, and to three again, while clients write that were told of the first three alone.
// Guarantee: S-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_set_grows_and_shrinks_under_load_and_clients_follow() {
    let mut cluster = Cluster::start().await;
    let from = agree(&cluster).await.next();
    let mut writers = Writers::start(&cluster).await;
    writers.acknowledge(20).await;
    let probe = cluster.client().await;
    for id in [4, 5] {
        grow(&mut cluster, id).await;
        writers.acknowledge(20).await;
    }
    let five = set(&cluster, 5).await;
    assert_eq!(five, voters(&[1, 2, 3, 4, 5]));
    follows(&probe, &[cluster.endpoint(4), cluster.endpoint(5)]).await;
    // The writers began before the probe's look, so they have looked, too.
    let watcher = Watcher::start(vec![cluster.endpoint(4), cluster.endpoint(5)], from);

    for id in [1, 2, 3, 5] {
        command(&cluster, &["remove".to_owned(), id.to_string()]).await;
        let (status, log) =
            within("the end of a replica that was removed", cluster.ended(id)).await;
        assert!(
            !status.success() && log.contains("has left the replica set"),
            "{log}"
        );
        writers.acknowledge(20).await;
    }
    assert_eq!(set(&cluster, 4).await, voters(&[4]));
    let last = refused(&cluster, &["remove".to_owned(), "4".to_owned()]).await;
    assert!(last.contains("the last voter"), "{last}");

    // A number is never used again.
    let peer = cluster.newcomer(6);
    let again = refused(&cluster, &["add".to_owned(), "2".to_owned(), peer]).await;
    assert!(again.contains("has left the replica set"), "{again}");
    for id in [6, 7] {
        grow(&mut cluster, id).await;
        writers.acknowledge(20).await;
    }
    is_led_by(&cluster, 7).await;
    command(&cluster, &["checkpoint".to_owned()]).await;

    let written = writers.stop().await;
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    let other = Watcher::start(vec![cluster.endpoint(6), cluster.endpoint(7)], from);
    other.reached(end).await;
    compare(&watcher.log(), &other.log()).unwrap_or_else(|fault| panic!("{fault}"));
    let log = watcher.log().clone();
    written.check(&cluster, &log).await;
    cluster.finish().await;
}

/// What would leave a set without a majority is refused, and changes nothing.
// Guarantee: S-03, TM-32
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_stop_the_set_is_refused() {
    let mut cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let others: Vec<u64> = IDS.into_iter().filter(|id| *id != leader).collect();
    let (silent, other) = (others[0], others[1]);
    cluster.kill(silent).await;
    let removed = refused(&cluster, &["remove".to_owned(), other.to_string()]).await;
    assert!(removed.contains("no majority that answers"), "{removed}");
    let nobody = ["add".to_owned(), "4".to_owned(), "127.0.0.1:1".to_owned()];
    let nobody = refused(&cluster, &nobody).await;
    assert!(
        nobody.contains("no replica answers at 127.0.0.1:1"),
        "{nobody}"
    );
    let peer = cluster.newcomer(5);
    cluster.launch(5);
    let wrong = refused(&cluster, &["add".to_owned(), "6".to_owned(), peer.clone()]).await;
    assert!(wrong.contains("replica 5 answers at"), "{wrong}");
    // Nobody is added in the place of a replica that is not there.
    let nobody = ["replace".to_owned(), "9".to_owned(), "5".to_owned(), peer];
    let nobody = refused(&cluster, &nobody).await;
    assert!(
        nobody.contains("replica 9 is not in the replica set"),
        "{nobody}"
    );
    // What was done is shown, although not all of it was.
    let endpoints = [silent, leader, other]
        .map(|id| cluster.endpoint(id))
        .join(",");
    let asked = [
        "cluster",
        "checkpoint",
        "-o",
        "name",
        "--timeout",
        "10s",
        "--endpoints",
    ];
    let asked = [&asked[..], &[&endpoints]].concat();
    let shown = commands::run(&asked).await;
    let (written, errors) = (
        String::from_utf8_lossy(&shown.stdout),
        String::from_utf8_lossy(&shown.stderr),
    );
    assert_eq!(written, format!("{leader}\n{other}\n"), "{errors}");
    assert!(
        !shown.status.success() && errors.contains(&cluster.endpoint(silent)),
        "{errors}"
    );
    assert_eq!(set(&cluster, leader).await, voters(&IDS));
    cluster.restart(silent).await;
    // A replica that waits to be added ends when it is asked to.
    assert!(cluster.terminate(5).await.success());
    cluster.finish().await;
}

/// Starts a replica that joins, and makes it a voter.
async fn grow(cluster: &mut Cluster, id: u64) {
    let peer = cluster.newcomer(id);
    cluster.launch(id);
    command(cluster, &["add".to_owned(), id.to_string(), peer]).await;
    cluster.serving(id).await;
    let learner = set(cluster, id).await;
    assert!(learner.contains(&(id, ReplicaRole::Learner)), "{learner:?}");
    command(cluster, &["promote".to_owned(), id.to_string()]).await;
}

/// The replica set as one of the replicas sees it once it knows of no learner.
async fn set(cluster: &Cluster, id: u64) -> Vec<(u64, ReplicaRole)> {
    // Read linearizably first, so that the replica has applied the change.
    cluster.serving(id).await;
    let status = cluster.status(id).await.expect("the replica answers");
    let replicas = status.replicas.into_iter();
    replicas
        .map(|replica| (replica.replica_id, replica.role))
        .collect()
}

fn voters(ids: &[u64]) -> Vec<(u64, ReplicaRole)> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.into_iter().map(|id| (id, ReplicaRole::Voter)).collect()
}

/// Waits until a client calls these endpoints, too, of which it was not told.
async fn follows(client: &Client, endpoints: &[String]) {
    eventually("a client that follows the replica set", async || {
        let read = client.settings(ReadOptions::linearizable()).await;
        read.map_err(|error| error.to_string())?;
        let known = client.endpoints();
        let all = endpoints.iter().all(|endpoint| known.contains(endpoint));
        all.then_some(()).ok_or_else(|| format!("{known:?}"))
    })
    .await;
}

/// Hands the leadership to a replica until it leads: on a busy machine another one may lead soon after.
pub(crate) async fn is_led_by(cluster: &Cluster, id: u64) {
    eventually("a replica to lead that is asked to", async || {
        let asked = ["transfer-leader".to_owned(), id.to_string()];
        let (is_success, output) = run(cluster, &asked).await;
        let leader = cluster.leader().await;
        (is_success && leader == id)
            .then_some(())
            .ok_or_else(|| format!("replica {leader} leads; {output}"))
    })
    .await;
}

/// Runs `synod cluster`, which must succeed.
pub(crate) async fn command(cluster: &Cluster, arguments: &[String]) {
    let (is_success, output) = run(cluster, arguments).await;
    assert!(is_success, "{arguments:?}: {output}");
}

/// Runs `synod cluster`, which must fail, and returns what it said.
async fn refused(cluster: &Cluster, arguments: &[String]) -> String {
    let (is_success, output) = run(cluster, arguments).await;
    assert!(!is_success, "{arguments:?}: {output}");
    output
}

async fn run(cluster: &Cluster, arguments: &[String]) -> (bool, String) {
    let awake = cluster.awake().into_iter();
    let endpoints: Vec<String> = awake.map(|id| cluster.endpoint(id)).collect();
    let mut all = vec!["cluster".to_owned()];
    all.extend_from_slice(arguments);
    all.extend(["--endpoints".to_owned(), endpoints.join(",")]);
    all.extend(["--timeout".to_owned(), "10s".to_owned()]);
    let log = cluster.log_of(&format!(
        "cluster-{}",
        arguments.join("-").replace([':', '/'], "_")
    ));
    let mut process = Process::start("synod cluster", &all, &log);
    let status = within("synod cluster to end", process.ended()).await;
    (status.success(), process.log())
}
