//! How `synod serve` starts and ends.

use rustix::process::Signal;

use crate::cluster::{Cluster, Server};
use crate::program::{eventually, finish, synod};

#[tokio::test]
async fn a_replica_says_where_it_serves() {
    let mut cluster = Cluster::start().await;
    cluster.kill(0).await;
    let replica = cluster.words(0);
    let words: Vec<&str> = replica.iter().map(String::as_str).collect();
    cluster.replicas[0] = Some(crate::program::Running::start(synod(&words)));
    let line = cluster.serves(0).await;
    let fields: Vec<(&str, &str)> = line
        .split(' ')
        .skip(1)
        .map(|field| field.split_once('=').unwrap())
        .collect();
    assert!(
        line.starts_with("serving cluster=test replica=1 client=127.0.0.1:"),
        "{line}"
    );
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["cluster", "replica", "client", "peer", "metrics"]);
    assert_eq!(fields[2].1, cluster.endpoint(0));
    // Metrics were asked for on port 0: the line names the free port that was chosen.
    assert!(!fields[4].1.ends_with(":0"), "{line}");
}

#[tokio::test]
async fn a_leader_that_is_asked_to_end_hands_over_and_ends_well() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    let leader = cluster.leader().await;
    let mut replica = cluster.replicas[leader].take().unwrap();
    replica.signal(Signal::TERM);
    assert_eq!(replica.ended().await.code(), Some(0));
    server.encodes("pods", "v1").await;
    // A follower may name the one before for a moment.
    let asking = async || match cluster.leader().await {
        other if other != leader => Ok(()),
        _ => Err("it is the one that has ended".to_owned()),
    };
    eventually("another leader", asking).await;
    cluster.restart(leader).await;
    let printed = cluster
        .ask(&["storage-versions", "check", "pods", "--assume-complete"])
        .await;
    assert_eq!(printed.code, 0, "{}", printed.err);
}

#[tokio::test]
async fn a_second_signal_ends_a_replica_at_once() {
    let mut cluster = Cluster::start().await;
    let mut replica = cluster.replicas[0].take().unwrap();
    // Stopped, so that it cannot end by the first signal before the second one comes. Two of one kind may arrive as one.
    for signal in [Signal::STOP, Signal::TERM, Signal::INT, Signal::CONT] {
        replica.signal(signal);
    }
    assert_eq!(replica.ended().await.code(), Some(1));
    cluster.restart(0).await;
}

#[tokio::test]
async fn a_replica_without_the_others_ends_when_it_is_asked_to() {
    let mut cluster = Cluster::start().await;
    cluster.kill(0).await;
    cluster.kill(1).await;
    let mut replica = cluster.replicas[2].take().unwrap();
    replica.signal(Signal::INT);
    assert_eq!(replica.ended().await.code(), Some(0));
}

#[tokio::test]
async fn what_cannot_be_started_ends_with_the_reason() {
    let cluster = Cluster::start().await;
    // The same directory, with other addresses.
    let mut words = cluster.words(0);
    for word in &mut words {
        if word.starts_with("--listen-") {
            *word = format!("{}=127.0.0.1:0", word.split_once('=').unwrap().0);
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let printed = finish(synod(&words)).await;
    assert_eq!((printed.code, printed.out.as_str()), (1, ""));
    assert!(
        printed.err.contains("error: replica 1 cannot start: "),
        "{}",
        printed.err
    );

    // The same addresses.
    let replica = cluster.words(0);
    let words: Vec<&str> = replica.iter().map(String::as_str).collect();
    let printed = finish(synod(&words)).await;
    assert_eq!(printed.code, 1);
    let taken = format!("error: cannot listen on {}: ", cluster.endpoint(0));
    assert!(printed.err.contains(&taken), "{}", printed.err);
}

#[tokio::test]
async fn logs_are_documents_if_asked_for() {
    let mut cluster = Cluster::start().await;
    cluster.kill(0).await;
    let replica = cluster.words(0);
    let words: Vec<&str> = replica.iter().map(String::as_str).collect();
    let mut command = synod(&words);
    command
        .arg("--log-format=json")
        .env("SYNOD_LOG", "info")
        .stderr(std::process::Stdio::piped());
    // `--log` of the arguments takes precedence over `SYNOD_LOG`.
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    tokio::io::AsyncBufReadExt::read_line(&mut tokio::io::BufReader::new(stdout), &mut line)
        .await
        .unwrap();
    rustix::process::kill_process(id, Signal::TERM).unwrap();
    let ended = child.wait_with_output().await.unwrap();
    assert_eq!(ended.status.code(), Some(0));
    for line in String::from_utf8(ended.stderr).unwrap().lines() {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            document["level"].is_string() && document["message"].is_string(),
            "{line}"
        );
    }
}
