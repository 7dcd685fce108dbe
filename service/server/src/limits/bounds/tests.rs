use std::collections::BTreeSet;

use super::*;

fn rows() -> impl Iterator<Item = &'static Bound> {
    BOUNDS.iter().chain(CONNECTIONS)
}

#[test]
fn every_bound_has_a_name_of_its_own_and_allows_something() {
    let names: BTreeSet<&str> = rows().map(|bound| bound.name).collect();
    assert_eq!(names.len(), rows().count());
    assert!(rows().all(|bound| bound.value > 0));
}

/// What bounds nothing that anybody could meet: how work is cut into pieces, and how often something is done.
const NOT_MET: [&str; 7] = [
    "PROMOTED_BEHIND_MAX",
    "ANSWER_PIECE_BYTES",
    "TRACE_ID_BYTES_MAX",
    "TRACE_STATE_BYTES_MAX",
    "LOW_AND_SILENT_MAX",
    "LOG_TIME_UNWRITTEN_MAX",
    "LOG_TIME_TICK_MAX",
];

#[test]
fn every_limit_is_in_a_table() {
    let tables = [
        include_str!("../bounds.rs"),
        include_str!("../connections.rs"),
    ]
    .concat();
    let words: BTreeSet<&str> = tables
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .collect();
    let limits = include_str!("../../limits.rs").lines();
    let names = limits.filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    let missing: BTreeSet<&str> = names.filter(|name| !words.contains(name)).collect();
    assert_eq!(missing, BTreeSet::from(NOT_MET));
}
