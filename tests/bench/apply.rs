//! Measures apply: the state machine alone, with few and with many objects stored. Every replica applies each command.
//!
//! Each line is of one kind of command, in entries of 30 as a busy leader makes them: the time per command, and what it
//! allocates. A clone of the state is held, as readers hold one. The guard of `tests/costs` counts the same allocations.

#[path = "apply/workload.rs"]
mod workload;

use workload::{BYTES, ENTRY, Scale, costs};

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
        };
        for (cost, time) in costs(scale) {
            println!(
                "{:<32} {:>12.2} {:>14.1} {:>14.0} {:>14.1} {:>14.0}",
                cost.name,
                time.as_secs_f64() * 1_000_000.0,
                cost.allocations,
                cost.bytes,
                cost.read_allocations,
                cost.read_bytes,
            );
        }
        println!();
    }
}
