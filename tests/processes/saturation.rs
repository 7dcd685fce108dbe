//! Replicas that are given more work than they can do, on a machine that others keep busy, too.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use synod_client::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::agreement::agree;
use crate::cards;
use crate::cluster::Cluster;
use crate::keeper::Keeper;
use crate::waiting::{LIMIT, span};

/// Callers that write all the time.
const CALLERS: usize = 256;
/// Clients that these share, so that each has a pipeline.
const CLIENTS: usize = 8;
/// Bytes of an object.
const BYTES: usize = 256;

/// The TTL of the member that renews meanwhile.
const TTL: Duration = Duration::from_secs(3);

/// What the smoke share takes. It has no others, and an election in it is told and fails nothing: other tests run beside it.
const SMOKE: Duration = Duration::from_secs(3);

/// Bytes that are written and synced at a time by who keeps the disk busy.
const CHUNK: usize = 1 << 20;
/// The size at which that file begins anew.
const CHUNKS: usize = 256;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_with_more_work_than_it_can_do_stays_leader() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    cards::declare(&client, 0).await;
    let term = term(&client).await;
    let leader = cluster.leader().await;
    let mut keeper = Keeper::start(cluster.client().await, "renews", TTL).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicU64::new(0));
    let span = span();
    let others = (span > SMOKE).then(Others::start);
    let mut callers = JoinSet::new();
    for number in 0..CLIENTS {
        let client = cluster.client().await.with_timeout(LIMIT);
        for caller in (number..CALLERS).step_by(CLIENTS) {
            let (client, is_over) = (client.clone(), Arc::clone(&is_over));
            let written = Arc::clone(&written);
            callers.spawn(async move { overwrite(client, caller, &is_over, &written).await });
        }
    }
    let began = Instant::now();
    while began.elapsed() < span.max(SMOKE) {
        keeper.acknowledge(1).await;
    }
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = callers.join_next().await {
        ended.expect("no call fails");
    }
    keeper.check().await;
    if let Some(others) = others {
        others.end();
    }
    let elections = self::term(&client).await - term;
    println!(
        "{} writes by {CALLERS} callers in {:?}, {elections} elections",
        written.load(Ordering::Relaxed),
        began.elapsed()
    );
    if span > SMOKE {
        assert_eq!(elections, 0, "the leader was {leader}");
        assert_eq!(cluster.leader().await, leader);
    }
    agree(&cluster).await;
    cluster.finish().await;
}

/// The Raft term.
async fn term(client: &Client) -> u64 {
    let status = client.status().await;
    status.expect("the cluster serves").header.raft_term
}

/// Writes one object again and again, each time over what it has written before.
async fn overwrite(client: Client, caller: usize, is_over: &AtomicBool, written: &AtomicU64) {
    let name = format!("caller-{caller}");
    let mut revision = cards::create_large(&client, &name, BYTES).await;
    let mut value = 0;
    while !is_over.load(Ordering::Relaxed) {
        value += 1;
        revision = cards::overwrite_large(&client, &name, revision, value, BYTES).await;
        written.fetch_add(1, Ordering::Relaxed);
    }
}

/// Others on the machine: one that computes on each core, and one that writes and syncs.
struct Others {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Others {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut threads = Vec::new();
        for _ in 0..cores {
            let is_over = Arc::clone(&is_over);
            threads.push(std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }));
        }
        let mut file = tempfile::tempfile().expect("there is room for a file");
        let syncs = Arc::clone(&is_over);
        threads.push(std::thread::spawn(move || sync(&mut file, &syncs)));
        Self { is_over, threads }
    }

    fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("it computes and writes only");
        }
    }
}

/// Writes and syncs until it is over.
fn sync(file: &mut File, is_over: &AtomicBool) {
    let chunk = vec![1; CHUNK];
    let mut chunks = 0;
    while !is_over.load(Ordering::Relaxed) {
        if chunks % CHUNKS == 0 {
            file.rewind().expect("a file can be read from its begin");
        }
        chunks += 1;
        file.write_all(&chunk).expect("there is room");
        file.sync_data().expect("the disk works");
    }
}
