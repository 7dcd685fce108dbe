//! What the other languages' clients cost: calls per second of each as a ratio to those of Rust, over the same replicas.
//!
//! All of them are the Rust client behind a face, so the ratio is what the face takes. Every language makes the same calls of
//! the same objects, in turn in every round, each time with a new client that is told of the leader alone: told of all
//! replicas, a client begins with any of them, and one that begins with a follower has a longer way.
//!
//! With words behind `--`, only the figures are taken whose name has one of them.

use std::time::Duration;

#[path = "../processes/ports.rs"]
mod ports;
#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "figures/replicas.rs"]
#[expect(dead_code, reason = "the other figures use the rest of it")]
mod replicas;
#[path = "figures/sample.rs"]
#[expect(dead_code, reason = "the other figures use the rest of it")]
mod sample;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;
#[path = "figures/wanted.rs"]
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

/// How long each round of a figure runs in each language. Half as long goes before it and does not count: connections are
/// made then, and JavaScript is compiled.
const ROUND: Duration = Duration::from_secs(1);

/// How often each figure is taken.
const ROUNDS: usize = 5;

/// How many callers there are, of which each waits for an answer before its next call.
const CALLERS: [usize; 2] = [1, 64];

/// Threads of the runtime: the bindings have as many for their clients.
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
