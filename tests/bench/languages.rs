//! Measures the clients of other languages: their calls per second as ratios to Rust's, over the same replicas.
//!
//! All of them wrap the Rust client, so the ratio shows the cost of the wrapper. In every round each language makes the
//! same calls of the same objects in turn, with a new client that knows the leader's endpoint alone: with all
//! endpoints, a client may begin at a follower, which has to forward its writes.
//!
//! Words after `--` select figures: only those whose name contains one of the words are taken.

use std::time::Duration;

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

#[path = "languages/calls.rs"]
mod calls;
#[path = "languages/programs.rs"]
mod programs;

use calls::{Call, Load};
use programs::Program;
use replicas::Replicas;
use sample::Sample;
use wanted::Wanted;

/// The length of a round of a figure in each language. Half as long goes before it and does not count: connections are
/// made then, and JavaScript is compiled.
const ROUND: Duration = Duration::from_secs(1);

/// The number of rounds of each figure.
const ROUNDS: usize = 5;

/// The numbers of callers, each of which waits for an answer before its next call.
const CALLERS: [usize; 2] = [1, 64];

/// Threads of the runtime, as many as the Python package has.
const THREADS: usize = 2;

fn main() {
    let wanted = Wanted::by_arguments();
    let programs = programs::built();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let replicas = Replicas::start().await;
        calls::store_objects(&replicas.client().await).await;
        println!(
            "calls per second as ratios to Rust's: the median of {ROUNDS} rounds (least to most)\n"
        );
        let names = programs.iter().map(|program| program.name);
        print_row("figure", "Rust", names);
        for call in [Call::Get, Call::Update] {
            for callers in CALLERS {
                let load = Load { call, callers };
                if wanted.has(&load.to_string()) {
                    measure(&replicas, &programs, load).await;
                }
            }
        }
    });
}

/// Takes one figure in all languages, and prints it.
async fn measure(replicas: &Replicas, programs: &[Program], load: Load) {
    let mut rust = Sample::default();
    let mut others = vec![Sample::default(); programs.len()];
    for _ in 0..ROUNDS {
        let leader = replicas.leader().await;
        let client = replicas.client_of(leader).await;
        let endpoints = client.endpoints();
        rust.push(calls::rate(client, load).await);
        for (program, rates) in programs.iter().zip(&mut others) {
            rates.push(program.rate(&endpoints, load).await);
        }
    }
    let ratios = others.iter().map(|rates| rates.ratios_to(&rust).spread());
    print_row(
        &load.to_string(),
        &format!("{:.0}/s", rust.median()),
        ratios,
    );
}

fn print_row(figure: &str, rust: &str, others: impl Iterator<Item = impl AsRef<str>>) {
    print!("{figure:<20} {rust:>10}");
    for other in others {
        print!(" {:>22}", other.as_ref());
    }
    println!();
}
