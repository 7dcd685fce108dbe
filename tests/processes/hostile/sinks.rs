//! A replica whose log is never read, and the log of a healthy start and end.

use super::scrape;
use crate::cards;
use crate::cluster::{Cluster, IDS};
use crate::waiting::{eventually, within};

/// How often replicas are started for the first time until none of them warns: one that always does it does it each time.
const STARTS: usize = 3;

// Guarantee: P-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_whose_log_nobody_reads_serves_on_and_ends_when_it_is_asked_to() {
    let mut cluster = Cluster::start().await;
    let muted = cluster.follower().await;
    cluster.kill(muted).await;
    // Its log and its output go into one pipe that is never read.
    let _unread = cluster.launch_unread(muted);
    cluster.serving(muted).await;
    let client = cluster.client_of(muted).await;
    cards::declare(&client, 0).await;
    eventually("lines that nobody reads", async || {
        let (_, read) = within("a read", cards::read(&client))
            .await
            .expect("it is served");
        assert_eq!(read.value, 0);
        let text = scrape(&cluster, muted)
            .await
            .map_err(|error| error.to_string())?;
        let dropped = text
            .lines()
            .find_map(|line| line.strip_prefix("synod_log_lines_dropped_total "));
        let is_dropping = dropped.is_some_and(|count| count != "0");
        is_dropping
            .then_some(())
            .ok_or_else(|| format!("{dropped:?} lines are dropped"))
    })
    .await;
    let ended = cluster.terminate(muted).await;
    assert!(ended.success(), "{ended}");
    cluster.restart(muted).await;
    cluster.finish().await;
}

// Guarantee: P-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_start_that_is_well_warns_of_nothing_and_an_orderly_end_logs_no_error() {
    let mut cluster = starts_well().await;
    for id in IDS {
        let status = cluster.terminate(id).await;
        assert!(status.success(), "replica {id}: {status}");
        let log = cluster.log(id);
        let errors: Vec<&str> = log
            .lines()
            .filter(|line| line.contains(" ERROR "))
            .collect();
        assert_eq!(errors, Vec::<&str>::new(), "replica {id}");
    }
}

/// Replicas that have formed a cluster without a warning. On a machine that is busy with something else a vote, an answer or a
/// message comes too late now and then, and is warned of: then others are started.
async fn starts_well() -> Cluster {
    let mut told = Vec::new();
    for _ in 0..STARTS {
        let cluster = Cluster::start().await;
        let warnings = warnings(&cluster);
        if warnings.is_empty() {
            return cluster;
        }
        told.push(warnings);
        cluster.finish().await;
    }
    panic!("each first start warns: {told:#?}");
}

/// What replicas have warned of. Waiting for the others is part of a first start, and no reason for it.
fn warnings(cluster: &Cluster) -> Vec<String> {
    // Also on one that is not that busy.
    let late = "failed to send a heartbeat: Err(Elapsed";
    let mut warnings = Vec::new();
    for id in IDS {
        let log = cluster.log(id);
        let lines = log.lines().filter(|line| line.contains(" WARN "));
        let lines = lines.filter(|line| !line.contains(late));
        warnings.extend(lines.map(|line| format!("replica {id}: {line}")));
    }
    warnings
}
