//! Measures what a thousand times as many objects cost, in the state machine alone and on three processes.
//!
//! The machine's operations are also timed with a thousandth of the objects: the ratio says whether a cost grows with
//! the result or with the store. Words after `--` select the figures whose name contains one of the words.

#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "peers/replicas.rs"]
#[expect(dead_code, reason = "the other figures use the rest of it")]
mod replicas;
#[path = "peers/sample.rs"]
#[expect(dead_code, reason = "the other figures use the rest of it")]
mod sample;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;
#[path = "peers/wanted.rs"]
mod wanted;

#[path = "objects/busy.rs"]
mod busy;
#[path = "objects/by_size.rs"]
mod by_size;
#[path = "objects/checkpoints.rs"]
mod checkpoints;
#[path = "objects/listing.rs"]
mod listing;
#[path = "objects/stored.rs"]
mod stored;
#[path = "objects/writers.rs"]
mod writers;

use replicas::Replicas;
use wanted::Wanted;

/// The number of objects, and the small number to compare with.
const MANY: usize = 1_000_000;
const FEW: usize = 1_000;

/// The number of namespaces that they are in.
const NAMESPACES: usize = 10;

/// Bytes of data of each object.
const BYTES: usize = 256;

/// Writes per second while something else is measured.
const WRITES_PER_SECOND: u64 = 500;

fn main() {
    let wanted = Wanted::by_arguments();
    if wanted.has("machine") {
        by_size::machine();
    }
    let served = ["checkpoint", "list", "start", "leadership"];
    if !served.iter().any(|figure| wanted.has(figure)) {
        return;
    }
    // One thread for the load, as the servers share the same cores.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let mut replicas = Replicas::start().await;
        stored::fill(&replicas).await;
        if wanted.has("list") {
            listing::pages_during_writes(&replicas).await;
        }
        if wanted.has("checkpoint") {
            checkpoints::stall(&replicas).await;
        }
        if wanted.has("start") {
            stored::start_again(&mut replicas).await;
        }
        // Last, because this stores more objects and the other figures are of those that were there before.
        if wanted.has("leadership") {
            busy::leadership(&replicas).await;
        }
    });
}
