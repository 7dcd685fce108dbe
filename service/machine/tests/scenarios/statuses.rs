//! Statuses of storage versions in checkpoints. Apply computes a status, so a wrong one in a checkpoint is damage.

use std::sync::Arc;

use synod_machine::{Digest, Row, State};
use synod_model::Condition;

use crate::cluster::Cluster;
use crate::entry::{of, version};

const WIDGETS: &str = "example.com.widgets";

/// A cluster whose members encode these versions.
fn encoding(versions: &[&'static str]) -> Cluster {
    let mut cluster = Cluster::formed();
    for (place, version) in versions.iter().enumerate() {
        let id = format!("server-{place}");
        let entry = of(WIDGETS).decodes("v1 v1alpha1").encodes(version);
        cluster.starts(&id, &[entry]);
    }
    cluster
}

/// The fault of a checkpoint with this common version.
fn fault_of_common(encodings: &[&'static str], common: Option<&str>) -> Option<String> {
    let cluster = encoding(encodings);
    let rows = cluster.state.rows().map(|row| match row {
        Row::StorageVersion(resource, mut own) => {
            Arc::make_mut(&mut own).status.common = common.map(version);
            Row::StorageVersion(resource, own)
        }
        row => row,
    });
    fault_of_rows(rows.collect())
}

#[test]
fn a_common_version_that_the_entries_do_not_have_is_no_state() {
    for (encodings, common, expected) in [
        (
            &["v1alpha1", "v1"][..],
            Some("v1alpha1"),
            "should be nil if servers do not agree",
        ),
        (
            &["v1alpha1", "v1alpha1"],
            Some("v1"),
            "the actual common encoding version is v1alpha1",
        ),
        (
            &["v1alpha1"],
            None,
            "the common encoding version is v1alpha1",
        ),
    ] {
        let fault = fault_of_common(encodings, common).unwrap_or_default();
        assert!(
            fault.contains("commonEncodingVersion: Invalid value") && fault.contains(expected),
            "{encodings:?} {common:?}: {fault}"
        );
    }
    assert_eq!(fault_of_common(&["v1alpha1"], Some("v1alpha1")), None);
}

#[test]
fn conditions_that_break_a_rule_are_no_state() {
    let fault_of = |change: fn(&mut Condition)| {
        let cluster = encoding(&["v1"]);
        let rows = cluster.state.rows().map(|row| match row {
            Row::StorageVersion(resource, mut own) => {
                change(&mut Arc::make_mut(&mut own).status.decodable);
                Row::StorageVersion(resource, own)
            }
            row => row,
        });
        fault_of_rows(rows.collect())
    };
    let silent = fault_of(|condition| condition.message.clear()).unwrap_or_default();
    assert!(silent.contains("message cannot be empty"), "{silent}");
    let twice = fault_of(|condition| {
        condition.kind = Condition::ALL_ENCODING_VERSIONS_EQUAL.to_owned();
    });
    let twice = twice.unwrap_or_default();
    assert!(twice.contains("is not unique"), "{twice}");
    assert_eq!(fault_of(|_| {}), None);
}

#[test]
fn a_storage_version_without_entries_and_two_entries_of_one_member_are_no_state() {
    let rows: Vec<Row> = encoding(&["v1"]).state.rows().collect();
    let is_entry = |row: &Row| matches!(row, Row::Entry(..));
    let alone = rows.iter().filter(|row| !is_entry(row)).cloned().collect();
    let alone = fault_of_rows(alone).unwrap_or_default();
    assert!(alone.contains("has no entry"), "{alone}");
    let mut twice = rows;
    let place = twice.iter().position(is_entry).expect("a member reports");
    twice.insert(place, twice[place].clone());
    let twice = fault_of_rows(twice).unwrap_or_default();
    assert!(twice.contains("it holds two rows of one key"), "{twice}");
}

/// The fault of the rows if their header has the digest that is theirs.
fn fault_of_rows(mut rows: Vec<Row>) -> Option<String> {
    let fault = State::from_rows(rows.clone()).err()?.to_string();
    let Some((_, digest)) = fault.split_once("its digest is ") else {
        return Some(fault);
    };
    let byte = |i: usize| u8::from_str_radix(&digest[2 * i..2 * i + 2], 16);
    let found = std::array::from_fn(|i| byte(i).expect("a digest is shown in hexadecimal"));
    let Some(Row::Header { digest: of_all, .. }) = rows.first_mut() else {
        panic!("the first row is the header");
    };
    *of_all = Digest::from_bytes(found);
    State::from_rows(rows).err().map(|fault| fault.to_string())
}
