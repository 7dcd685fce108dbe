//! Measures how long no write is acknowledged at each hand-over of rolling restarts, beside 100 watches and a load of writes.
//! No call may fail, and each watch must deliver every acknowledged write once, in order.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use synod_client::{Client, ObjectKind, Revision, WatchFrom, WatchMessage, WatchOptions};
use tokio::task::JoinHandle;

use crate::hand_over::Writing;
use crate::replicas::Replicas;
use crate::sample::{percentile, times};
use crate::waiting::within;

const HAND_OVERS: usize = 100;
const WATCHES: usize = 100;
/// Clients that watch: each has as many of the watches.
const WATCHING: usize = 20;
/// Clients that write beside the one that is measured.
const WRITING: usize = 8;

/// What a watch has delivered: the number of events of each revision.
type Delivered = Vec<(Revision, usize)>;

/// The pauses of one client's writes at each hand-over.
pub(crate) async fn restarts(replicas: &mut Replicas) {
    let mut measured = Writing::start(replicas, "measured").await;
    let from = measured.write().await;
    let mut watches = Vec::new();
    for _ in 0..WATCHING {
        let client = replicas.client().await;
        for _ in 0..WATCHES / WATCHING {
            watches.push(Watching::start(&client, from).await);
        }
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let mut load = Vec::new();
    for number in 0..WRITING {
        let mut writing = Writing::start(replicas, &format!("load-{number}")).await;
        let is_over = Arc::clone(&is_over);
        load.push(tokio::spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                writing.write().await;
            }
            writing.acknowledged()
        }));
    }
    let mut pauses = Vec::new();
    let mut next = 0;
    while pauses.len() < HAND_OVERS {
        // Each replica in turn, as an upgrade does: only the end of one that leads is a hand-over.
        let leads = replicas.leader().await == next;
        let pause = measured.pause_during(replicas.terminate(next)).await;
        if leads {
            pauses.push(pause);
        }
        replicas.launch(next);
        replicas.serving(next).await;
        next = (next + 1) % 3;
    }
    is_over.store(true, Ordering::Relaxed);
    let mut acknowledged = BTreeSet::new();
    for writing in load {
        acknowledged.extend(writing.await.expect("no call fails"));
    }
    let last = measured.write().await;
    acknowledged.extend(measured.acknowledged());
    let mut delivered = Vec::new();
    for watching in watches {
        delivered.push(within("a watch has everything", watching.until(last)).await);
    }
    let (first, others) = delivered.split_first().expect("there are watches");
    assert!(first.is_sorted_by(|one, next| one.0 < next.0), "in order");
    assert!(
        others.iter().all(|other| other == first),
        "a watch lacks what another has"
    );
    let delivered: BTreeSet<Revision> = first.iter().map(|(revision, _)| *revision).collect();
    let missing: Vec<&Revision> = acknowledged.difference(&delivered).collect();
    assert!(
        missing.is_empty(),
        "acknowledged and not delivered: {missing:?}"
    );
    println!(
        "{WATCHES} watches delivered each of {} acknowledged writes once",
        acknowledged.len()
    );
    times("the pause of writes at a hand-over of a restart", &pauses);
    println!(
        "{:<52} {:>9.1} ms",
        "the 99th percentile of these",
        percentile(&pauses, 99).as_secs_f64() * 1000.0
    );
}

/// A watch of everything that is reported, and the task that reads it.
struct Watching {
    stop_at: tokio::sync::watch::Sender<Option<Revision>>,
    task: JoinHandle<Delivered>,
}

impl Watching {
    async fn start(client: &Client, from: Revision) -> Self {
        let options = WatchOptions::new()
            .kinds(vec![ObjectKind::StorageVersion])
            .from(WatchFrom::Revision(from))
            .without_resync();
        let mut watch = client.watch(options).await.expect("a watch can be opened");
        let (stop_at, mut asked) = tokio::sync::watch::channel(None);
        let task = tokio::spawn(async move {
            let mut delivered = Delivered::new();
            let has_all = |delivered: &Delivered, asked: Option<Revision>| {
                let newest = delivered.last().map(|(revision, _)| *revision);
                asked.is_some_and(|asked| newest >= Some(asked))
            };
            loop {
                if has_all(&delivered, *asked.borrow_and_update()) {
                    return delivered;
                }
                tokio::select! {
                    biased;
                    changed = asked.changed() => changed.expect("it is asked before it is dropped"),
                    message = watch.next() => {
                        let message = message.expect("the watch goes on");
                        if let WatchMessage::Events(events) = message.expect("the watch works") {
                            delivered.push((events.revision, events.events.len()));
                        }
                    }
                }
            }
        });
        Self { stop_at, task }
    }

    /// What the watch has delivered, once that goes as far as this revision, which changed something that it shows.
    async fn until(self, last: Revision) -> Delivered {
        self.stop_at.send_replace(Some(last));
        self.task.await.expect("the watch works")
    }
}
