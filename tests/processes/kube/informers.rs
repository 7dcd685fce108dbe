//! Many informers of client-go over many objects, through the death of a leader: none misses a change, none is told of one twice,
//! and the replicas hold little for each.
//!
//! `cargo xtask test kube-informers` builds the program of client-go and runs this; without it the test says that it checks
//! nothing.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::stored;
use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::hostile::memory;
use crate::waiting::{LIMIT, objects};

/// The objects of the smoke share, which is the least of which the program writes.
const FEW: usize = 500;

/// Objects for each informer: 10 informers of 500 objects, and 200 of 10,000.
const OBJECTS_OF_INFORMER: usize = 50;

/// Bytes of an object that are nothing but bytes.
const BYTES: usize = 64;

/// Writes before the leader dies, between its death and its return, and after that.
const WRITES: usize = 100;

/// The longest time until all caches are filled, and until all of them were compared.
const LONG: Duration = Duration::from_secs(600);

/// What a replica may hold more than before, whoever watches: what the log, the history and the checkpoints of the writes take
/// meanwhile, and what the allocator keeps.
const GROWTH_MAX: u64 = 48 << 20;

/// What it may hold more for each watch: the buffers of a connection and one message, each of some 10,000 bytes where events are small.
/// A watch that had its own queue of what was changed, or a page of what there is, would take hundreds of KiB.
const GROWTH_OF_WATCH: u64 = 128 << 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn informers_lose_nothing_and_are_told_nothing_twice_when_the_leader_dies() {
    let Some(program) = std::env::var_os("SYNOD_KUBE_CLIENT_GO") else {
        println!("SKIPPED: SYNOD_KUBE_CLIENT_GO names no program, so no informer was tried");
        return;
    };
    let (mut cluster, kube) = Cluster::start_with_kube().await;
    let count = objects(FEW);
    let informers = count / OBJECTS_OF_INFORMER;
    let client = cluster.client().await.with_timeout(LIMIT);
    stored::declare(&client).await;
    stored::store(&client, count, BYTES).await;
    let mut command = Command::new(program);
    command.arg("informers").arg(informers.to_string());
    command.args(kube.values().map(ToString::to_string));
    let mut client = Informers::start(command);
    let before = most(&cluster);
    assert_eq!(client.line(LONG).await, "synced");
    client.wrote(WRITES).await;
    let leader = cluster.leader().await;
    cluster.kill(leader).await;
    client.wrote(WRITES).await;
    cluster.restart(leader).await;
    client.wrote(WRITES).await;
    println!("{informers} informers: {}", client.end().await);
    let after = most(&cluster);
    let allowed = GROWTH_MAX + GROWTH_OF_WATCH * informers as u64;
    for id in IDS.into_iter().filter(|id| *id != leader) {
        let (before, growth) = (before[&id], after[&id] - before[&id]);
        println!(
            "replica {id} held {} MiB at most before, and {} MiB more since",
            before >> 20,
            growth >> 20
        );
        assert!(
            growth < allowed,
            "replica {id}: {growth} bytes, and {allowed} are allowed"
        );
    }
    agree(&cluster).await;
    cluster.finish().await;
}

/// The most memory that each replica has had so far.
fn most(cluster: &Cluster) -> BTreeMap<u64, u64> {
    let most = |id| (id, memory::most_ever(cluster.process(id)));
    IDS.map(most).into()
}

/// The program of client-go. It is killed when this is dropped.
struct Informers {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Informers {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .env_remove("KUBECONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program can be started");
        let output = child.stdout.take().expect("its output is read");
        let input = child.stdin.take().expect("it is told something");
        Self {
            child,
            input,
            output: BufReader::new(output).lines(),
        }
    }

    /// The next line that it tells.
    async fn line(&mut self, patience: Duration) -> String {
        let line = timeout(patience, self.output.next_line()).await;
        let line = line.expect("it tells something in time");
        let line = line.expect("its output can be read");
        line.expect("it has not ended")
    }

    /// Waits until so many more writes were tried.
    async fn wrote(&mut self, more: usize) {
        let mut wanted = None;
        loop {
            let line = self.line(LIMIT).await;
            let count = line
                .strip_prefix("wrote ")
                .and_then(|count| count.parse().ok());
            let count: usize = count.unwrap_or_else(|| panic!("it tells of no writes: {line}"));
            if count >= *wanted.get_or_insert(count + more) {
                return;
            }
        }
    }

    /// Has it check what all of them have seen, and returns what it says of that.
    async fn end(mut self) -> String {
        self.input.write_all(b"\n").await.expect("it reads");
        let said = loop {
            let line = self.line(LONG).await;
            if !line.starts_with("wrote ") {
                break line;
            }
        };
        let ended = timeout(LIMIT, self.child.wait()).await;
        let status = ended.expect("it ends").expect("it can be waited for");
        assert!(status.success(), "{status}: {said}");
        said
    }
}
