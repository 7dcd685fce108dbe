//! Measures apply: the state machine alone, with few and with many objects stored. Every replica applies each command.
//!
//! Each line is of one kind of command, in entries of 30 as a busy leader makes them: the time per command, and what it
//! allocates. A clone of the state is held, as readers hold one. The guard of `tests/costs` applies the same commands.

#[path = "apply/workload.rs"]
mod workload;

use std::time::Duration;

use allocation_counter::{AllocationInfo, measure};
use bytes::Bytes;
use synod_machine::{Command, Outcome, State};
use synod_model::stored;
use tokio::time::Instant;
use workload::{BYTES, ENTRY, Scale};

/// The numbers of stored objects to measure with.
const STORED: [usize; 2] = [10_000, 1_000_000];

fn main() {
    for objects in STORED {
        println!("{objects} objects of {BYTES} bytes stored, entries of {ENTRY}\n");
        println!(
            "{:<32} {:>12} {:>14} {:>14} {:>14} {:>14}",
            "", "us a command", "allocations", "bytes of them", "to read it", "bytes of them"
        );
        let scale = Scale {
            objects,
            commands: 30_000,
            members: 1_000,
            large: 3,
        };
        workload::run(scale, &mut measured);
        println!();
    }
}

/// Reads the commands from the bytes of entries and applies them, and prints what one costs.
fn measured(state: &mut State, name: &'static str, commands: Vec<Command>) -> Vec<Outcome> {
    let count = commands.len();
    let entries = workload::entries(commands);
    let written: Vec<Bytes> = entries.iter().map(stored::to_bytes).collect();
    let mut entries = Vec::new();
    let read = measure(|| entries = workload::read(&written));
    let mut outcomes = Vec::with_capacity(count);
    let mut taken = Duration::ZERO;
    let mut held = state.clone();
    let applied = measure(|| {
        for entry in &entries {
            let begin = Instant::now();
            let applied = state.apply(entry);
            held = state.clone();
            taken += begin.elapsed();
            outcomes.extend(applied.outcomes);
        }
    });
    drop(held);
    print(name, count, taken, [&applied, &read]);
    outcomes
}

fn print(name: &str, count: usize, taken: Duration, allocated: [&AllocationInfo; 2]) {
    let each = |total: u64| total as f64 / count as f64;
    let [applied, read] = allocated;
    println!(
        "{name:<32} {:>12.2} {:>14.1} {:>14.0} {:>14.1} {:>14.0}",
        taken.div_f64(count as f64).as_secs_f64() * 1_000_000.0,
        each(applied.count_total),
        each(applied.bytes_total),
        each(read.count_total),
        each(read.bytes_total),
    );
}
