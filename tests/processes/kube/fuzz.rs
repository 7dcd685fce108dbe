//! Requests of which a part is wrong: each is answered as it is documented, no replica panics, and all of them stay equal.
//!
//! Requests that are in order, of every verb, kind and form, are changed by chance. The seed is fixed; `SYNOD_PROCESS_SEED` is
//! another one. A fault is told with its request, which is kept as a file beside the logs.

mod answers;
mod bodies;
mod corpus;
mod damage;
mod dice;
mod learned;
mod requests;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use synod_client::{Client, CollectionRules, CreateCollection, GroupResource, Kind, ReadOptions};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::corpus::Corpus;
use self::dice::Dice;
use self::learned::Learned;
use self::requests::Request;
use super::http::Connection;
use crate::agreement::agree;
use crate::cluster::Cluster;
use crate::waiting::{LIMIT, eventually, span};

/// The seed, unless another one is asked for.
const SEED: u64 = 16;

/// Requests to each replica in the smoke share.
const FEW: usize = 400;

/// Faults after which no more are looked for.
const FAULTS_MAX: usize = 12;

/// A body of which a replica may read no more, so that its answer is lost when the connection is closed.
const LONG: usize = 256 << 10;

/// What came of the requests to one replica.
#[derive(Default)]
struct Tally {
    statuses: BTreeMap<u16, usize>,
    /// By what is wrong, the request that it was first found by.
    faults: BTreeMap<String, Vec<u8>>,
    /// Answers of long requests that were lost.
    lost: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_sent_is_answered_as_it_is_documented_and_replicas_stay_equal() {
    let (cluster, kube) = Cluster::start_with_kube().await;
    let client = cluster.client().await.with_timeout(LIMIT);
    declare(&client, "widgets", "Widget", true).await;
    declare(&client, "gadgets", "Gadget", false).await;
    let leader = cluster.leader().await;
    let corpus = Arc::new(Corpus::stored_at(kube[&leader]).await);
    let term = term(&client).await;
    let (seed, span) = (seed(), span());
    println!("the seed is {seed}");
    let mut senders = JoinSet::new();
    for (id, at) in kube.clone() {
        let corpus = Arc::clone(&corpus);
        senders.spawn(async move { (id, send(at, seed + id, &corpus, span).await) });
    }
    let mut faults = Vec::new();
    while let Some(sent) = senders.join_next().await {
        let (id, tally) = sent.expect("no sender panics");
        println!("replica {id}: {:?}, {} lost", tally.statuses, tally.lost);
        faults.extend(
            tally
                .faults
                .into_iter()
                .map(|(fault, request)| (id, fault, request)),
        );
    }
    let is_calm = self::term(&client).await == term;
    // What an election explains is no fault.
    faults.retain(|(_, fault, _)| is_calm || !fault.contains(answers::UNEXPLAINED));
    let told: Vec<String> = faults
        .iter()
        .enumerate()
        .map(|(number, (id, fault, request))| told(&cluster, number, *id, fault, request))
        .collect();
    assert!(told.is_empty(), "the seed is {seed}\n{}", told.join("\n"));
    for at in kube.into_values() {
        Connection::to(at).get("/livez").await;
        Connection::to(at)
            .get("/apis/example.io/v1/widgets?limit=1")
            .await;
    }
    agree(&cluster).await;
    cluster.finish().await;
}

fn seed() -> u64 {
    let asked = std::env::var("SYNOD_PROCESS_SEED").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(SEED)
}

/// The Raft term.
async fn term(client: &Client) -> u64 {
    let read = client.settings(ReadOptions::linearizable()).await;
    read.expect("the cluster serves").header.raft_term
}

/// Declares a collection of the group `example.io`: with namespaces, its status is a subresource.
async fn declare(client: &Client, plural: &str, kind: &str, namespaced: bool) {
    let create = CreateCollection {
        resource: GroupResource::new("example.io", plural).expect("it is a name"),
        kind: Kind::parse(kind).expect("it is a kind"),
        namespaced,
        rules: CollectionRules {
            strict_storage_version: false,
            create_on_update: !namespaced,
            unconditional_update: true,
            status_subresource: namespaced,
        },
    };
    // Not before the machine version is in force that has it.
    eventually("a collection with a status", async || {
        let created = client.collections().create(create.clone()).await;
        created.map(drop).map_err(|error| error.to_string())
    })
    .await;
}

/// Sends requests to one replica, one after the other.
async fn send(at: SocketAddr, seed: u64, corpus: &Corpus, span: Duration) -> Tally {
    let mut dice = Dice::of(seed);
    let mut learned = Learned::default();
    let mut connection = Connection::to(at);
    let mut tally = Tally::default();
    let began = Instant::now();
    let mut sent = 0;
    while (sent < FEW || began.elapsed() < span) && tally.faults.len() < FAULTS_MAX {
        let request = requests::next(&mut dice, corpus, &learned);
        sent += 1;
        let answer = connection.ask(&request.bytes, request.nature).await;
        let Request { bytes, .. } = &request;
        let fault = match answer {
            Err(_) if bytes.len() > LONG => {
                tally.lost += 1;
                continue;
            }
            Err(error) => format!("no answer: {error}"),
            Ok(answer) => {
                *tally.statuses.entry(answer.code).or_default() += 1;
                match answers::check(&request, &answer) {
                    Ok(document) => {
                        learned.learn(&document);
                        continue;
                    }
                    Err(fault) => fault,
                }
            }
        };
        tally.faults.entry(fault).or_insert_with(|| bytes.clone());
    }
    tally
}

/// A fault with its request, whose bytes are kept.
fn told(cluster: &Cluster, number: usize, id: u64, fault: &str, request: &[u8]) -> String {
    let file: PathBuf = cluster.log_of(&format!("request-{number}"));
    fs::write(&file, request).expect("the folder can be written");
    let beginning = &request[..request.len().min(1_500)];
    format!("replica {id}: {fault}\n    {}", beginning.escape_ascii())
}
