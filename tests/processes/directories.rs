//! A replica refuses to start on a data directory that is damaged or not its own, says why and what to do, and leaves
//! every file as it is.

use std::fs;
use std::path::{Path, PathBuf};

use synod_client::{GroupResource, StatementNumber};

use crate::agreement::agree;
use crate::cluster::Cluster;
use crate::process::Process;
use crate::tree_hash::tree_hash;
use crate::writers::{fixed, join};
use synod_tests::free_address;

/// The arguments with another value for one flag.
fn with(mut arguments: Vec<String>, flag: &str, value: &str) -> Vec<String> {
    let place = arguments
        .iter()
        .position(|argument| argument == flag)
        .expect("the flag is given");
    value.clone_into(&mut arguments[place + 1]);
    arguments
}

/// Starts a replica that must refuse to start, and returns its output.
async fn refused(arguments: &[String], log: &Path) -> String {
    let mut process = Process::start("a replica that must not start", arguments, log);
    let status = process.ended().await;
    let said = process.log();
    assert!(!status.success(), "it started: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// A cluster with some data, whose third replica was ended by SIGTERM.
async fn cluster_with_one_down() -> Cluster {
    let mut cluster = Cluster::start().await;
    report_some(&cluster, "first").await;
    agree(&cluster).await;
    assert!(cluster.terminate(3).await.success());
    cluster
}

/// Changes something at the running replicas.
async fn report_some(cluster: &Cluster, member: &str) {
    let client = cluster.client().await;
    let member = join(&client, member, member, 60_000).await;
    for number in 0..20 {
        let resource =
            GroupResource::new("example.com", &format!("r{number}")).expect("it is a name");
        client
            .send_report(
                &member,
                StatementNumber::new(number + 1).expect("it is a number"),
                vec![fixed(resource)],
                false,
            )
            .await
            .expect("the cluster serves");
    }
}

/// Checks that the output names the place and what to do.
fn check_said(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "it does not say {part:?}: {said}");
    }
}

// Guarantee: D-07, TM-31
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_of_another_cluster_or_replica_is_refused_and_left_as_it_is() {
    let mut cluster = cluster_with_one_down().await;
    let (folder, log) = (cluster.data_dir(3).to_owned(), cluster.log_of("refused"));
    let before = tree_hash(&folder);
    let place = folder.display().to_string();
    let arguments = cluster.arguments(3);

    let said = refused(&with(arguments.clone(), "--cluster-name", "other"), &log).await;
    check_said(
        &said,
        &[
            &place,
            "\"processes\"",
            "\"other\"",
            "correct the cluster name or the path",
        ],
    );
    let said = refused(&with(arguments.clone(), "--replica-id", "2"), &log).await;
    check_said(
        &said,
        &[
            &place,
            "belongs to replica 3",
            "correct the replica id or the path",
        ],
    );
    assert_eq!(tree_hash(&folder), before);

    let notes = cluster.log_of("notes").with_extension("");
    fs::create_dir(&notes).expect("the folder can be made");
    fs::write(notes.join("notes.txt"), "mine").expect("the file can be written");
    let foreign = tree_hash(&notes);
    let said = refused(
        &with(arguments, "--data-dir", &notes.display().to_string()),
        &log,
    )
    .await;
    check_said(&said, &["notes.txt", "give an empty or a new directory"]);
    assert_eq!(tree_hash(&notes), foreign);

    cluster.restart(3).await;
    agree(&cluster).await;
    cluster.finish().await;
}

// Guarantee: D-07, TM-34
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_of_a_newer_build_is_refused_and_left_as_it_is() {
    let mut cluster = cluster_with_one_down().await;
    let (folder, log) = (cluster.data_dir(3).to_owned(), cluster.log_of("refused"));
    let identity = folder.join("IDENTITY");
    let known = fs::read_to_string(&identity).expect("the identity is text");
    let newer = synod_store::FORMAT_VERSION + 1;
    let text = known.lines().map(|line| match line.split(' ').next() {
        Some(word @ ("format" | "min-reader")) => format!("{word} {newer}\n"),
        _ => format!("{line}\n"),
    });
    fs::write(&identity, text.collect::<String>()).expect("the identity can be written");
    let before = tree_hash(&folder);

    let said = refused(&cluster.arguments(3), &log).await;
    let format = format!("has format {newer}");
    check_said(
        &said,
        &[
            &folder.display().to_string(),
            &format,
            "Start it with the newer build",
        ],
    );
    assert_eq!(tree_hash(&folder), before);

    report_some(&cluster, "second").await;
    fs::write(&identity, known).expect("the identity can be written");
    cluster.restart(3).await;
    agree(&cluster).await;
    cluster.finish().await;
}

// Guarantee: D-07, TM-31
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_on_a_directory_is_refused_and_the_first_goes_on() {
    let mut cluster = Cluster::start().await;
    report_some(&cluster, "first").await;
    let follower = cluster.follower().await;
    let folder = cluster.data_dir(follower).to_owned();
    let mut arguments = cluster.arguments(follower);
    for door in ["--listen-client", "--listen-peer", "--listen-metrics"] {
        arguments = with(arguments, door, &free_address().to_string());
    }
    // While the first process is paused, only the second one could touch a file.
    cluster.pause(follower);
    let before = tree_hash(&folder);
    let said = refused(&arguments, &cluster.log_of("refused")).await;
    check_said(
        &said,
        &[
            &folder.display().to_string(),
            "is in use",
            "Stop that process",
        ],
    );
    assert_eq!(tree_hash(&folder), before);
    cluster.resume(follower);
    report_some(&cluster, "second").await;
    agree(&cluster).await;
    cluster.finish().await;
}

// Guarantee: D-07, TM-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_is_damaged_in_the_middle_is_refused_and_left_as_it_is() {
    let mut cluster = cluster_with_one_down().await;
    let (folder, log) = (cluster.data_dir(3).to_owned(), cluster.log_of("refused"));
    let (segment, good) = fullest_segment(&folder);
    let written = written(&good);
    let mut damaged = good.clone();
    damaged[written / 2] ^= 0x10;
    fs::write(&segment, &damaged).expect("the segment can be written");
    let before = tree_hash(&folder);

    for _ in 0..2 {
        let said = refused(&cluster.arguments(3), &log).await;
        check_said(
            &said,
            &[
                &segment.display().to_string(),
                "is damaged at offset",
                "left as they are",
            ],
        );
        assert_eq!(tree_hash(&folder), before);
    }
    // The two other replicas go on without it.
    report_some(&cluster, "second").await;
    fs::write(&segment, &good).expect("the segment can be written");
    cluster.restart(3).await;
    agree(&cluster).await;
    cluster.finish().await;
}

/// The fullest segment of a log, and its content.
fn fullest_segment(folder: &Path) -> (PathBuf, Vec<u8>) {
    let names = fs::read_dir(folder.join("wal")).expect("there is a log");
    let paths = names.map(|entry| entry.expect("it can be listed").path());
    let segments =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "wal"));
    let read = segments.map(|path| {
        let content = fs::read(&path).expect("the segment can be read");
        (path, content)
    });
    read.max_by_key(|(_, content)| written(content))
        .expect("there is a segment")
}

/// The length of a segment without the zeros that fill it up.
fn written(segment: &[u8]) -> usize {
    segment
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1)
}

// Guarantee: D-08, TM-26
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_lost_its_directory_is_refused_under_its_old_id_for_ever() {
    let mut cluster = Cluster::start().await;
    report_some(&cluster, "first").await;
    let follower = cluster.follower().await;
    cluster.kill(follower).await;
    let folder = cluster.data_dir(follower).to_owned();
    let kept = folder.with_extension("kept");
    fs::rename(&folder, &kept).expect("the directory can be moved");

    cluster.launch(follower);
    let (status, said) = cluster.ended(follower).await;
    assert!(!status.success(), "{said}");
    check_said(
        &said,
        &[
            "must never come back under this id",
            "remove it from the replica set",
            "a fresh id",
        ],
    );
    let before = tree_hash(&folder);
    // The two others serve, and still refuse it.
    report_some(&cluster, "second").await;
    let said = refused(&cluster.arguments(follower), &cluster.log_of("refused")).await;
    check_said(&said, &["must never come back under this id"]);
    assert_eq!(tree_hash(&folder), before);
    report_some(&cluster, "third").await;

    // With its old directory back, the replica can start.
    fs::remove_dir_all(&folder).expect("the directory can be removed");
    fs::rename(&kept, &folder).expect("the directory can be moved");
    cluster.restart(follower).await;
    agree(&cluster).await;
    cluster.finish().await;
}
