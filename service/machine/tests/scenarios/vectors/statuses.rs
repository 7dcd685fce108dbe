//! The faults that Kubernetes finds in a written status. Here no client can write a status: an entry is parsed when it
//! is reported, and the rest is computed, so the status is checked by the same rules when a checkpoint is read.

use std::collections::BTreeSet;

use std::sync::Arc;

use serde_json::Value;
use synod_machine::{Command, Digest, Row, State};
use synod_model::{
    Condition, ConditionStatus, Kind, MemberId, Report, ReportEntry, ReportEntryText, Stance,
    StanceText, StoredIn, Violations,
};

use super::suite::{self, Case};
use super::{WIDGETS, text, texts};
use crate::cluster::{Cluster, accepted};
use crate::entry::{of, resource, version};
use crate::said::next_number;

#[test]
fn validate_server_storage_version() {
    suite::run("validate_server_storage_version.json", 7, &[], |_, case| {
        let fault = match case["status"].as_array() {
            Some(entries) => doubled(entries),
            None => fault_of_entry(case),
        };
        expect_fault(fault, &case["errorContains"])
    });
}

/// Kubernetes puts member and entry into one object; a report names the member once.
fn fault_of_entry(entry: &Case<'_>) -> Option<String> {
    let mut found = Violations::new();
    found.parsed("apiServerID", MemberId::parse(text(entry, "apiServerID")));
    let text = ReportEntryText {
        group: "mygroup.com",
        resource: "widgets",
        kind: "Widget",
        decodable: texts(&entry["decodableVersions"]),
        served: texts(&entry["servedVersions"]),
        stance: StanceText::Fixed {
            encoding: text(entry, "encodingVersion"),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: Vec::new(),
    };
    found.parsed("", ReportEntry::parse(&text));
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The fault of a checkpoint that has these entries, each in a row of its own.
fn doubled(entries: &[Value]) -> Option<String> {
    let ids: Vec<&str> = entries
        .iter()
        .filter_map(|it| texts(it).first().copied())
        .collect();
    let cluster = encoding(&entries[..1]);
    let mut rows: Vec<Row> = cluster.state.rows().collect();
    let entry = |row: &Row| matches!(row, Row::Entry(_, id, _) if ids.contains(&id.as_str()));
    let place = rows.iter().position(entry).expect("it reported");
    while rows.iter().filter(|row| entry(row)).count() < ids.len() {
        rows.insert(place, rows[place].clone());
    }
    fault_of_rows(rows)
}

#[test]
fn validate_common_version() {
    suite::run("validate_common_version.json", 5, &[], |_, case| {
        let entries = case["storageVersions"].as_array().ok_or("no entries")?;
        let common = case["commonEncodingVersion"].as_str().map(version);
        let is_reported = !entries.is_empty();
        let cluster = if is_reported {
            encoding(entries)
        } else {
            let mut cluster = Cluster::formed();
            cluster.starts("gone", &[of(WIDGETS)]);
            cluster
        };
        let rows = cluster.state.rows().filter_map(|row| match row {
            Row::StorageVersion(resource, mut version) => {
                Arc::make_mut(&mut version).status.common = common.clone();
                // If no member reports it and no common version is claimed, there is no row.
                let is_kept = is_reported || common.is_some();
                is_kept.then_some(Row::StorageVersion(resource, version))
            }
            Row::Entry(..) => is_reported.then_some(row),
            row => Some(row),
        });
        expect_fault(fault_of_rows(rows.collect()), &case["errorContains"])
    });
}

#[test]
fn validate_storage_version_conditions() {
    let file = "validate_storage_version_conditions.json";
    suite::run(file, 5, &[], |_, case| {
        let conditions = case["conditions"].as_array().ok_or("no conditions")?;
        let conditions: Result<Vec<Condition>, String> = conditions.iter().map(condition).collect();
        let fault = match conditions {
            Err(fault) => Some(fault),
            Ok(conditions) => fault_of_conditions(&conditions),
        };
        expect_fault(fault, &case["errorContains"])
    });
}

/// A status is one of three words in every place.
fn condition(said: &Value) -> Result<Condition, String> {
    let status: Result<ConditionStatus, _> = text(said, "status").parse();
    let [kind, reason, message] = ["type", "reason", "message"].map(|field| text(said, field));
    Ok(Condition {
        kind: kind.to_owned(),
        status: status.map_err(|violation| violation.at("status").to_string())?,
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: 1,
        transition: Default::default(),
        transition_revision: Default::default(),
    })
}

fn fault_of_conditions(conditions: &[Condition]) -> Option<String> {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of(WIDGETS)]);
    let rows = cluster.state.rows().map(|row| match row {
        Row::StorageVersion(resource, mut version) => {
            let status = &mut Arc::make_mut(&mut version).status;
            let places = [&mut status.all_equal, &mut status.decodable];
            for (place, condition) in places.into_iter().zip(conditions) {
                *place = condition.clone();
            }
            Row::StorageVersion(resource, version)
        }
        row => row,
    });
    fault_of_rows(rows.collect())
}

/// A cluster in which these members encode these versions.
fn encoding(entries: &[Value]) -> Cluster {
    let mut cluster = Cluster::formed();
    for entry in entries {
        let [id, encoding] = texts(entry)[..] else {
            panic!("no member and version: {entry}");
        };
        let server = cluster.joins(id);
        let versions = || ["v1", "v1alpha1"].map(version).into_iter().collect();
        let entry = ReportEntry {
            resource: resource(WIDGETS),
            kind: Kind::parse("Widget").expect("a legal kind"),
            decodable: versions(),
            served: versions(),
            stance: Stance::Fixed {
                encoding: version(encoding),
            },
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        };
        accepted(cluster.send(Command::Report(Report {
            number: next_number(&server),
            member: server.id,
            epoch: server.epoch,
            entries: vec![entry],
            replace: false,
        })));
    }
    cluster
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

/// Checks that the fault contains this text, or that there is no fault if there is no text.
fn expect_fault(found: Option<String>, contains: &Value) -> Result<(), String> {
    let is_met = match (&found, contains.as_str()) {
        (None, None) => true,
        (Some(found), Some(contains)) => found.contains(contains),
        (Some(_), None) | (None, Some(_)) => false,
    };
    if is_met {
        Ok(())
    } else {
        Err(format!("expected {contains}, found {found:?}"))
    }
}
