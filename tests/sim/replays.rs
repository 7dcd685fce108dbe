//! A seed determines a run: two runs of it have the same trace.

use crate::checkers::come_together;
use crate::faults::{cut_off_and_crash, torment};
use crate::machine::Kind;
use crate::seeds::run;
use crate::world::World;

fn scenario(world: &mut World) {
    world.run_for(3_000);
    cut_off_and_crash(world);
    torment(world, 6);
    come_together(world);
}

fn check(test: &str, kind: Kind) {
    let first = run(test, kind, 7, scenario).text();
    for fault in ["fault Isolate(", "fault PowerLoss(", " loses power"] {
        assert!(first.contains(fault), "seed 7 has no {fault}");
    }
    let again = run(test, kind, 7, scenario).text();
    assert_eq!(
        first_difference(&first, &again),
        None,
        "seed 7 did not replay"
    );
    let other = run(test, kind, 8, scenario).text();
    assert!(
        first_difference(&first, &other).is_some(),
        "seeds 7 and 8 are the same"
    );
}

#[test]
fn one_seed_of_consensus_gives_one_trace_and_another_another() {
    check(
        "one_seed_of_consensus_gives_one_trace_and_another_another",
        Kind::Bare,
    );
}

// Guarantee: X-01
#[test]
fn one_seed_of_whole_replicas_gives_one_trace_and_another_another() {
    check(
        "one_seed_of_whole_replicas_gives_one_trace_and_another_another",
        Kind::Whole,
    );
}

/// The first line where two traces differ.
fn first_difference(one: &str, other: &str) -> Option<(usize, String, String)> {
    let lines = one.lines().zip(other.lines()).zip(1..);
    let parted = lines.filter(|((one, other), _)| one != other);
    let mut parted =
        parted.map(|((one, other), number)| (number, one.to_owned(), other.to_owned()));
    parted.next().or_else(|| {
        let lengths = (one.lines().count(), other.lines().count());
        (lengths.0 != lengths.1).then(|| {
            (
                lengths.0.min(lengths.1),
                format!("{lengths:?}"),
                String::new(),
            )
        })
    })
}
