//! Holds what a change costs on its way, in instructions and allocations: to decode and check its message, to propose it, to
//! append it to the log, to read it from there and to apply it. A busy machine does not change these counts, so they tell
//! what a change of the code costs where a time would not.
//!
//! `UPDATE_GOLDEN=1 cargo test -p synod-tests --test costs` records them in `costs.txt`. A commit that raises one says why.

mod counted;
mod paths;
#[path = "../bench/apply/workload.rs"]
mod workload;

use std::path::Path;

use counted::Count;
use workload::Scale;

const SCALE: Scale = Scale {
    objects: 300,
    commands: 300,
    members: 60,
    large: 1,
};

/// Few, to try the guard itself.
const LITTLE: Scale = Scale {
    objects: 50,
    commands: 50,
    members: 5,
    large: 1,
};

fn all(count: &mut Count<'_>) {
    paths::paths(SCALE, count);
}

fn little(count: &mut Count<'_>) {
    paths::paths(LITTLE, count);
}

#[test]
fn no_path_costs_more_than_was_recorded() {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("costs/costs.txt");
    let again = counted::ignored("callgrind_counts_all_paths");
    counted::hold(&record, &counted::costs(all, &again));
}

#[test]
#[ignore = "it is run under callgrind, by the test of the costs"]
fn callgrind_counts_all_paths() {
    counted::under_callgrind(all);
}

#[test]
fn a_rise_and_a_fall_and_a_path_without_a_record_and_a_record_without_a_path_are_found() {
    let found = counted::allocations(little);
    let recorded = counted::table(&found);
    assert!(counted::differing(&recorded, &found).is_empty());
    for factor in [0.8, 1.2] {
        let mut changed = found.clone();
        changed[0].counts[2] *= factor;
        assert_eq!(counted::differing(&recorded, &changed).len(), 1);
    }
    assert_eq!(counted::differing(&recorded, &found[1..]).len(), 1);
    let without_first: String = recorded
        .lines()
        .skip(2)
        .flat_map(|line| [line, "\n"])
        .collect();
    let without_first = format!("\n{without_first}");
    assert_eq!(counted::differing(&without_first, &found).len(), 1);
}
