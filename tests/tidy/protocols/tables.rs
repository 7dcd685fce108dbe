//! The format of what replicas store and exchange is never broken.
//!
//! `tables.txt` beside the code has a line for each field and variant, and a test there compares it with the code;
//! `proto/baseline/` holds the released tables. Old bytes can be read as long as a new field comes last and is
//! optional, and a new variant has a new number.

use std::collections::BTreeMap;

use crate::finding::Finding;

/// The present tables, and their released versions.
const TABLES: [(&str, &str); 2] = [
    (
        "service/store/tables.txt",
        "proto/baseline/store.tables.txt",
    ),
    (
        "service/server/src/peer/tables.txt",
        "proto/baseline/peer.tables.txt",
    ),
];

/// Records the present tables as released.
pub(super) fn record() {
    for (current, released) in TABLES {
        let [from, to] = [current, released].map(|path| synod_tests::checkout().join(path));
        std::fs::copy(from, to).expect("the tables can be copied");
        println!("recorded {released}");
    }
}

/// The breaks of the released tables.
pub(super) fn faults() -> Vec<Finding> {
    let read = |path| std::fs::read_to_string(synod_tests::checkout().join(path));
    let mut findings = Vec::new();
    for (current, released) in TABLES {
        let breaks = match (read(current), read(released)) {
            (Ok(current), Ok(released)) => breaks(&released, &current),
            (Err(error), _) | (_, Err(error)) => vec![format!(
                "it cannot be compared, record it with `cargo xtask proto-baseline`: {error}"
            )],
        };
        let breaks = breaks.into_iter();
        findings.extend(breaks.map(|text| Finding::about(current, text)));
    }
    findings
}

/// The rows of the released table that the present one breaks.
fn breaks(released: &str, current: &str) -> Vec<String> {
    let current = rows(current);
    let mut breaks = Vec::new();
    for (name, old) in rows(released) {
        match current.get(name) {
            None => breaks.push(format!("{name} is gone")),
            Some(now) if old.iter().any(|row| is_variant(row)) => {
                let kept = |row: &&str| now.iter().any(|now| goes_on(now, row));
                let lost = old.iter().filter(|row| !kept(row));
                breaks.extend(lost.map(|row| format!("{name} no longer has: {row}")));
            }
            Some(now) => {
                let (same, new) = now.split_at(old.len().min(now.len()));
                if same != old {
                    breaks.push(format!(
                        "the fields of {name} are no longer {}",
                        old.join(", ")
                    ));
                }
                let bad = new.iter().filter(|row| !is_optional(row));
                breaks.extend(
                    bad.map(|row| format!("{name} has a new field that is not optional: {row}")),
                );
            }
        }
    }
    breaks
}

/// The rows of each type.
fn rows(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut types = BTreeMap::new();
    let mut name = "";
    for line in text.lines() {
        match line.strip_prefix("  ") {
            Some(row) => types.entry(name).or_insert_with(Vec::new).push(row),
            None => {
                name = line;
                types.entry(name).or_insert_with(Vec::new);
            }
        }
    }
    types
}

fn is_variant(row: &str) -> bool {
    row.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether a variant is unchanged, apart from optional fields at its end.
fn goes_on(now: &str, released: &str) -> bool {
    let Some(more) = now.strip_prefix(released) else {
        return false;
    };
    let new = more.strip_prefix(", ");
    more.is_empty() || new.is_some_and(|new| new.split(", ").all(is_optional))
}

/// Whether the field has a value when it is read from old bytes, which lack it.
fn is_optional(field: &str) -> bool {
    let optional = ["optional ", "list of ", "set of ", "map of "];
    field.split_once(": ").is_some_and(|(_, shape)| {
        shape == "flag" || optional.iter().any(|kind| shape.starts_with(kind))
    })
}

#[test]
fn what_comes_last_and_is_optional_breaks_nothing() {
    let old = "Choice\n  1 One: number\n  2 Two: at: text\nThing\n  id: number\n";
    assert_eq!(breaks(old, old), [""; 0]);
    let new = "Choice\n  1 One: number\n  2 Two: at: text, since: optional number\n  3 Three: text\nNew\n  \
               id: number\nThing\n  id: number\n  more: list of text\n  is: flag\n";
    assert_eq!(breaks(old, new), [""; 0]);
}

#[test]
fn whatever_old_bytes_cannot_be_read_by_is_found() {
    let broken = [
        ("A\n  a: text\n  b: text\n", "A\n  b: text\n  a: text\n"),
        ("A\n  a: text\n  b: text\n", "A\n  a: text\n"),
        ("A\n  a: text\n", "A\n  a: number\n"),
        ("A\n  a: text\n", "A\n  a: text\n  b: number\n"),
        ("A\n  a: text\n", "B\n  a: text\n"),
        ("A\n  1 One: \n  2 Two: \n", "A\n  1 One: \n  3 Two: \n"),
        ("A\n  1 One: a: text\n", "A\n  1 One: a: text, b: text\n"),
        ("A\n  1 One: text\n", "A\n  1 One: text, optional text\n"),
    ];
    for (old, new) in broken {
        assert_eq!(breaks(old, new).len(), 1, "{old}{new}");
    }
}
