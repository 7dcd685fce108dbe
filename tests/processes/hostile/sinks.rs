//! A replica whose log is never read, and the log of a healthy start and end.

use super::scrape;
use crate::cards;
use crate::cluster::Cluster;
use crate::waiting::{eventually, within};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_start_that_is_well_warns_of_nothing_and_an_orderly_end_logs_no_error() {
    let mut cluster = Cluster::start().await;
    for id in crate::cluster::IDS {
        let log = cluster.log(id);
        let warnings = log.lines().filter(|line| line.contains(" WARN "));
        // On a machine that is busy with something else, an answer to a heartbeat comes too late now and then.
        let late = "failed to send a heartbeat: Err(Elapsed";
        let warnings: Vec<&str> = warnings.filter(|line| !line.contains(late)).collect();
        // Waiting for the other replicas is part of a first start, and no reason for a warning.
        assert_eq!(warnings, Vec::<&str>::new(), "replica {id}");
    }
    for id in crate::cluster::IDS {
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
