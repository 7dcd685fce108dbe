//! Holds what commands cost: the allocations to read one from the log and to apply it. A busy machine does not change these
//! counts, so they tell what a change of the code costs where a time would not.
//!
//! `UPDATE_GOLDEN=1 cargo test -p synod-tests --test costs` records them in `costs.txt`. A commit that raises one says why.

#[path = "../bench/apply/workload.rs"]
mod workload;

use std::fmt::Write as _;
use std::path::Path;

use workload::{Cost, Scale, costs};

/// How far a count may be from the recorded one: a fall is recorded too, or the next rise would hide in it.
const TOLERANCE: f64 = 0.05;

const SCALE: Scale = Scale {
    objects: 2_000,
    commands: 3_000,
    members: 100,
};

#[test]
fn no_command_costs_more_than_was_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("costs/costs.txt");
    let found = counted(SCALE);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, table(&found)).expect("the record can be written");
    }
    let recorded = std::fs::read_to_string(&path).expect("the record is there");
    let differing = differing(&recorded, &found);
    assert!(
        differing.is_empty(),
        "{}\nfound:\n{}",
        differing.join("\n"),
        table(&found)
    );
}

#[test]
fn a_rise_and_a_fall_and_a_command_without_a_record_are_found() {
    let found = counted(Scale {
        objects: 50,
        commands: 50,
        members: 5,
    });
    let recorded = table(&found);
    assert!(differing(&recorded, &found).is_empty());
    for factor in [0.8, 1.2] {
        let mut changed = found.clone();
        changed[0].allocations *= factor;
        assert_eq!(differing(&recorded, &changed).len(), 1);
    }
    let without_first: String = recorded
        .lines()
        .skip(2)
        .flat_map(|line| [line, "\n"])
        .collect();
    assert_eq!(differing(&without_first, &found).len(), 1);
}

fn counted(scale: Scale) -> Vec<Cost> {
    costs(scale).into_iter().map(|(cost, _)| cost).collect()
}

const COLUMNS: [&str; 4] = ["allocations", "bytes", "to read", "bytes"];

fn counts(cost: &Cost) -> [f64; 4] {
    [
        cost.allocations,
        cost.bytes,
        cost.read_allocations,
        cost.read_bytes,
    ]
}

fn table(costs: &[Cost]) -> String {
    let mut table = format!("{:<32}", "");
    for column in COLUMNS {
        let _ = write!(table, " {column:>12}");
    }
    table.push('\n');
    for cost in costs {
        let _ = write!(table, "{:<32}", cost.name);
        for count in counts(cost) {
            let _ = write!(table, " {count:>12.2}");
        }
        table.push('\n');
    }
    table
}

/// The commands whose counts are not those of the record.
fn differing(recorded: &str, found: &[Cost]) -> Vec<String> {
    let recorded_of = |name: &str| {
        let line = recorded
            .lines()
            .find(|line| line.get(..32).is_some_and(|it| it.trim_end() == name))?;
        let counts = line[32..].split_whitespace().map(str::parse::<f64>);
        counts.collect::<Result<Vec<_>, _>>().ok()
    };
    let is_near =
        |count: f64, recorded: f64| (count - recorded).abs() <= TOLERANCE * recorded.max(1.0);
    let mut differing = Vec::new();
    for cost in found {
        let same = recorded_of(cost.name).is_some_and(|recorded| {
            counts(cost)
                .into_iter()
                .zip(recorded)
                .all(|(count, recorded)| is_near(count, recorded))
        });
        if !same {
            differing.push(format!(
                "{}: not as it was recorded, or not recorded",
                cost.name
            ));
        }
    }
    differing
}
