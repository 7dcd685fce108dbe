//! Leases on the command line.

use rustix::process::Signal;
use synod_client::{LeaseKey, ReadOptions};

use crate::cluster::Cluster;
use crate::program::{Printed, eventually};

fn code(printed: &Printed) -> i32 {
    printed.code
}

#[tokio::test]
async fn a_lease_is_taken_shown_renewed_and_released() {
    let cluster = Cluster::start().await;
    let acquire = ["lease", "acquire", "backup", "--holder", "a", "--ttl", "1h"];
    let taken = cluster.ask(&acquire).await;
    assert_eq!(code(&taken), 0, "{}", taken.err);
    let (token, holder) = taken.out.trim().split_once(' ').unwrap();
    assert_eq!(holder, "a");
    let refused = cluster
        .ask(&["lease", "acquire", "backup", "--holder", "b"])
        .await;
    assert_eq!(code(&refused), 4, "another holds it");
    let late = [
        "lease", "acquire", "backup", "--holder", "b", "--wait", "1s",
    ];
    assert_eq!(code(&cluster.ask(&late).await), 6, "it is not its turn");
    let renewed = cluster
        .ask(&["lease", "renew", "backup", "--token", token])
        .await;
    assert_eq!(code(&renewed), 0, "{}", renewed.err);
    let lost = cluster
        .ask(&["lease", "renew", "backup", "--token", "999999"])
        .await;
    assert_eq!(code(&lost), 1, "{}", lost.err);
    let listed = cluster.ask(&["lease", "list", "-o", "name"]).await;
    assert_eq!(listed.out, "default/backup\n");
    let shown = cluster.ask(&["lease", "get", "backup", "-o", "json"]).await;
    assert!(
        shown.out.contains(&format!("\"token\": \"{token}\"")),
        "{}",
        shown.out
    );
    let release = ["lease", "release", "backup", "--holder", "a"];
    assert_eq!(cluster.ask(&release).await.out, "released\n");
    assert_eq!(cluster.ask(&release).await.out, "nothing to release\n");
    let gone = cluster.ask(&["lease", "get", "nobody"]).await;
    assert_eq!(code(&gone), 3);
}

#[tokio::test]
async fn a_lease_is_deleted_whoever_holds_it() {
    let cluster = Cluster::start().await;
    let acquire = ["lease", "acquire", "backup", "--holder", "a", "--ttl", "1h"];
    let taken = cluster.ask(&acquire).await;
    let (token, _) = taken.out.trim().split_once(' ').unwrap();
    let delete = ["lease", "delete", "backup"];
    let other = cluster
        .ask(&[&delete[..], &["--if-revision", "1"]].concat())
        .await;
    assert_eq!(code(&other), 4, "{}", other.err);
    let deleted = cluster.ask(&delete).await;
    assert_eq!(deleted.out, "deleted\n", "{}", deleted.err);
    let lost = cluster
        .ask(&["lease", "renew", "backup", "--token", token])
        .await;
    assert_eq!(code(&lost), 1, "{}", lost.err);
    assert_eq!(code(&cluster.ask(&delete).await), 3);
    let again = cluster.ask(&acquire).await;
    let (next, _) = again.out.trim().split_once(' ').unwrap();
    let number = |token: &str| token.parse::<u64>().unwrap();
    assert!(number(next) > number(token), "{next} after {token}");
}

#[tokio::test]
async fn a_command_runs_while_its_lease_is_held_and_knows_its_token() {
    let cluster = Cluster::start().await;
    let shell = "echo $SYNOD_LEASE $SYNOD_LEASE_HOLDER $SYNOD_FENCING_TOKEN";
    let first = ["lock", "job", "--holder", "a", "--", "sh", "-c", shell];
    let printed = cluster.ask(&first).await;
    assert_eq!(code(&printed), 0, "{}", printed.err);
    let token = printed.out.trim().strip_prefix("default/job a ").unwrap();
    let token: u64 = token.parse().unwrap();
    let second = ["elect", "job", "--holder", "b", "--", "sh", "-c", shell];
    let printed = cluster.ask(&second).await;
    let later = printed.out.trim().strip_prefix("default/job b ").unwrap();
    assert!(later.parse::<u64>().unwrap() > token);
    let third = [
        "elect",
        "leader",
        "--holder",
        "c",
        "--candidate",
        "1.33.0",
        "--",
        "sh",
        "-c",
        shell,
    ];
    let printed = cluster.ask(&third).await;
    assert!(
        printed.out.starts_with("default/leader c "),
        "{}",
        printed.err
    );
    let failed = cluster
        .ask(&["lock", "job", "--", "sh", "-c", "exit 9"])
        .await;
    assert_eq!(code(&failed), 1);
    assert!(
        failed.err.contains("the command has failed"),
        "{}",
        failed.err
    );
    let list = cluster.ask(&["lease", "get", "job"]).await;
    assert!(list.out.contains("<unset>"), "it is free: {}", list.out);
}

/// A command that ends as it was told when SIGTERM arrives, and until then waits for input that never comes.
fn ending(code: u8) -> String {
    let pipe = "pipe=$(mktemp -u) && mkfifo $pipe && exec 3<>$pipe && rm $pipe";
    format!("{pipe}; trap 'exit {code}' TERM; echo up; read _ <&3")
}

/// Runs a shell under a lease, asks the program to end, and returns its exit code.
async fn asked_to_end(cluster: &Cluster, words: &[&str], shell: &str) -> Option<i32> {
    let words = [words, &["--", "sh", "-c", shell]].concat();
    let mut running = cluster.begin(&words);
    assert_eq!(running.line().await.unwrap(), "up");
    running.signal(Signal::TERM);
    running.ended().await.code()
}

#[tokio::test]
async fn a_command_that_is_asked_to_end_says_how_and_its_lease_is_free_at_once() {
    let cluster = Cluster::start().await;
    for verb in ["lock", "elect"] {
        let words = [verb, "job", "--holder", "a"];
        assert_eq!(
            asked_to_end(&cluster, &words, &ending(0)).await,
            Some(0),
            "{verb}"
        );
        let words = [verb, "job", "--holder", "b"];
        assert_eq!(
            asked_to_end(&cluster, &words, &ending(3)).await,
            Some(1),
            "{verb}: it had not done its work"
        );
        let free = ["lock", "job", "--no-wait", "--", "true"];
        let printed = cluster.ask(&free).await;
        assert_eq!(code(&printed), 0, "{verb}: {}", printed.err);
    }
}

#[tokio::test]
async fn who_gives_up_waiting_leaves_the_queue() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let first = ["lease", "acquire", "job", "--holder", "a", "--ttl", "1h"];
    assert_eq!(code(&cluster.ask(&first).await), 0);
    let key = LeaseKey::new("default", "job").unwrap();
    let late = ["lease", "acquire", "job", "--wait", "1s"];
    assert_eq!(code(&cluster.ask(&late).await), 6, "it is not its turn");
    for verb in ["lock", "elect"] {
        let mut waiting = cluster.begin(&[verb, "job", "--", "true"]);
        let queued = || async {
            let view = client.lease(&key, ReadOptions::linearizable()).await;
            view.unwrap().item.waiting
        };
        let asking = async || match queued().await {
            Some(1) => Ok(()),
            waiting => Err(format!("{waiting:?} wait")),
        };
        eventually("a place in the queue", asking).await;
        waiting.signal(Signal::TERM);
        assert_eq!(waiting.ended().await.code(), Some(1), "{verb}");
        assert_eq!(queued().await, Some(0), "{verb}");
    }
    let nothing = cluster
        .ask(&["lock", "job", "--no-wait", "--", "true"])
        .await;
    assert_eq!(code(&nothing), 4, "it is still held: {}", nothing.err);
}

#[tokio::test]
async fn what_cannot_be_started_holds_nothing() {
    let cluster = Cluster::start().await;
    for verb in ["lock", "elect"] {
        let printed = cluster.ask(&[verb, "job", "--", "/no/such/program"]).await;
        assert_eq!(code(&printed), 1);
        assert!(
            printed.err.contains("/no/such/program cannot be started"),
            "{}",
            printed.err
        );
        let shown = cluster.ask(&["lease", "get", "job"]).await;
        assert!(shown.out.contains("<unset>"), "{verb}: {}", shown.out);
    }
}
