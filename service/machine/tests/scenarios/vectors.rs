//! The cases of Kubernetes' own tests whose rule the machine carries out, each brought about by commands.
//!
//! Kubernetes writes a whole status and checks the result. Here no client can write a status, so a case begins with the
//! reports, renewals and departures that lead to it.

#[path = "../../../../tests/vectors/suite.rs"]
mod suite;

mod migrations;

use std::collections::BTreeSet;

use std::time::Duration;

use serde_json::Value;
use suite::{Case, Fields};
use synod_machine::{Command, Expire, Row, StorageVersionView};
use synod_model::{
    AcquireLease, ApiVersion, HolderIdentity, Join, Kind, LeaseKey, ReportEntry, Stance, StoredIn,
    Ttl,
};

use crate::cluster::{Cluster, Server, TTL, accepted, join, renew};
use crate::entry::{of, resource, version};
use crate::said::next_number;

const SHARED: &str = "set_common_encoding_version.json";
/// The one condition that Kubernetes has for a storage version.
const OF_THEM: &str = "AllEncodingVersionsEqual";
const WIDGETS: &str = "example.com.widgets";

#[test]
fn set_common_encoding_version() {
    suite::run(SHARED, 7, &["entries"], |_, case| {
        if text(case, "name").starts_with("observedGeneration_always_follows") {
            let expected = &case["expected"]["observedGenerationFollows"];
            return expect_eq(
                "follows",
                &observed_generation_follows()?,
                &(*expected == true),
            );
        }
        let mut story = Story::reach(&case["old"]);
        let names = texts(&case["expected"]["storageVersions"]);
        story.become_these(&names);
        story.check(case)
    });
}

#[test]
fn local_update_storage_version() {
    suite::run("local_update_storage_version.json", 2, &[], |_, case| {
        let mut story = Story::reach(&case["old"]);
        story.report(text(case, "report"));
        story.check(case)
    });
}

#[test]
fn storage_version_gc() {
    suite::run("storage_version_gc.json", 6, &[], |section, case| {
        if section == "derived_must_not_copy" {
            let left = match text(case, "name") {
                name if name.starts_with("any error reading") => a_live_member_is_not_removed(),
                name if name.starts_with("upstream deletes") => a_report_in_between_is_not_lost(),
                name => return Err(format!("an unknown hazard: {name}")),
            };
            return expect_eq("entry", &left.as_deref(), &case["expected"].as_str());
        }
        gone_members_leave_no_entry(case)
    });
}

#[test]
fn identity_lease_gc() {
    suite::run("identity_lease_gc.json", 5, &[], |_, case| {
        let seconds = |field: &str| {
            let value = case[field]
                .as_u64()
                .ok_or(format!("{field} is no number"))?;
            Ok::<_, String>(Duration::from_secs(value))
        };
        let ttl = Ttl::from_millis(seconds("duration")?.as_millis() as u64);
        let ttl = ttl.map_err(|violation| violation.to_string())?;
        // The Kubernetes API makes a member of a lease with this label in this namespace, and a plain lease of all others.
        let is_member = case["label"] == "kube-apiserver" && case["namespace"] == "kube-system";
        let mut cluster = Cluster::formed();
        accepted(
            cluster.send(match is_member {
                true => Command::Join(Join {
                    ttl,
                    ..join("kube-apiserver", "first")
                }),
                false => Command::AcquireLease(AcquireLease {
                    key: LeaseKey::new(text(case, "namespace"), "kube-apiserver")
                        .map_err(|violations| violations.to_string())?,
                    holder: HolderIdentity::parse("first")
                        .map_err(|violation| violation.to_string())?,
                    ttl,
                    wait: None,
                    if_member: None,
                }),
            }),
        );
        cluster.pass(seconds("renewAgeSeconds")?);
        cluster.expires();
        let is_lease = |row: &Row| matches!(row, Row::Lease(_));
        let deleted =
            cluster.state.member_count() == 0 && !cluster.state.rows().any(|row| is_lease(&row));
        expect_eq("deleted", &deleted, &(case["deleted"] == true))
    });
}

/// Servers by their Kubernetes id, reporting one resource.
struct Story {
    cluster: Cluster,
    servers: Vec<Server>,
    transition_before: Option<synod_model::Revision>,
}

impl Story {
    /// A cluster in which the resource looks like `old`.
    fn reach(old: &Value) -> Self {
        let mut story = Self {
            cluster: Cluster::formed(),
            servers: Vec::new(),
            transition_before: None,
        };
        let names = texts(&old["storageVersions"]);
        let agree = names
            .windows(2)
            .all(|pair| encoding(pair[0]) == encoding(pair[1]));
        match old["commonEncodingVersion"].as_str() {
            // They agree, and the old status says that they do not: another member disagreed.
            None if agree => {
                names.iter().for_each(|name| story.report(name));
                story.report_of("other", of(WIDGETS).decodes("v1 v2").encodes("v2").entry());
            }
            None => names.iter().for_each(|name| story.report(name)),
            // The first member encoded another version before.
            Some(common) if names.first().is_some_and(|first| encoding(first) != common) => {
                let mut entry = entry(names[0]);
                entry.stance = Stance::Fixed {
                    encoding: version(common),
                };
                story.report_of(&id(names[0]), entry);
            }
            Some(common) if names.is_empty() => {
                let mut entry = of(WIDGETS).entry();
                entry.stance = Stance::Fixed {
                    encoding: version(common),
                };
                story.report_of("other", entry);
            }
            Some(_) => names.iter().for_each(|name| story.report(name)),
        }
        let view = story.view().expect("somebody reported");
        assert_eq!(
            view.row.status.common.as_ref().map(ApiVersion::as_str),
            old["commonEncodingVersion"].as_str(),
            "the story begins as the case does"
        );
        let condition = &view.row.status.all_equal;
        assert_eq!(
            condition.status.as_str().to_uppercase(),
            text(old, "condition")
        );
        story.transition_before = Some(condition.transition_revision);
        story
    }

    /// The servers become those that have these entries; all others leave.
    fn become_these(&mut self, names: &[&str]) {
        for name in names {
            self.report(name);
        }
        let ids: Vec<String> = names.iter().map(|name| id(name)).collect();
        for server in self.servers.clone() {
            if !ids.iter().any(|id| id == server.id.as_str()) {
                self.cluster.leaves(&server);
            }
        }
    }

    fn report(&mut self, name: &str) {
        self.report_of(&id(name), entry(name));
    }

    fn report_of(&mut self, id: &str, entry: ReportEntry) {
        let known = self.servers.iter().find(|server| server.id.as_str() == id);
        let server = known.cloned().unwrap_or_else(|| self.cluster.joins(id));
        accepted(self.cluster.send(Command::Report(synod_model::Report {
            member: server.id.clone(),
            epoch: server.epoch,
            number: next_number(&server),
            entries: vec![entry],
            replace: false,
        })));
        if known.is_none() {
            self.servers.push(server);
        }
    }

    fn view(&self) -> Option<StorageVersionView> {
        self.cluster.version(WIDGETS)
    }

    fn check(&self, case: &Case<'_>) -> Result<(), String> {
        let expected = &case["expected"];
        let names = texts(&expected["storageVersions"]);
        let Some(view) = self.view() else {
            // Kubernetes' function leaves an empty list with a false condition; the object goes in the same command.
            expect_eq("entries", &names.len(), &0)?;
            let common = expected["commonEncodingVersion"].as_str();
            expect_eq("common", &self.cluster.common(WIDGETS).as_deref(), &common)?;
            expect_eq("condition", &text(expected, "condition"), &"FALSE")?;
            return expect_eq(
                "transition",
                &true,
                &(case["lastTransitionTimeChanges"] == true),
            );
        };
        let found: Vec<ReportEntry> = view.entries().map(|(_, row)| said(row)).collect();
        let said: Vec<ReportEntry> = names.iter().map(|name| entry(name)).collect();
        expect_eq("entries", &found, &said)?;
        let ids: Vec<&str> = view.entries().map(|(id, _)| id.as_str()).collect();
        expect_eq(
            "ids",
            &ids,
            &names.iter().map(|name| id(name)).collect::<Vec<String>>(),
        )?;
        let status = &view.row.status;
        let common = status.common.as_ref().map(ApiVersion::as_str);
        expect_eq(
            "common",
            &common,
            &expected["commonEncodingVersion"].as_str(),
        )?;
        let shared = suite::document(SHARED);
        let condition = &shared["conditions"][text(expected, "condition")];
        let words = ["type", "status", "reason", "message"].map(|field| text(condition, field));
        let all_equal = &status.all_equal;
        let found: [&str; 4] = [
            &all_equal.kind,
            all_equal.status.as_str(),
            &all_equal.reason,
            &all_equal.message,
        ];
        expect_eq("condition", &found, &words)?;
        let moved = Some(all_equal.transition_revision) != self.transition_before;
        expect_eq(
            "transition",
            &moved,
            &(case["lastTransitionTimeChanges"] == true),
        )
    }
}

/// Whether `observedGeneration` follows, in every row of the case.
fn observed_generation_follows() -> Result<bool, String> {
    let mut story = Story::reach(&suite::document(SHARED)["cases"][1]["old"]);
    let mut generations = || {
        let view = story.view().expect("somebody reported");
        let pair = (
            view.row.status.all_equal.observed_generation,
            view.row.metadata.generation,
        );
        story.report("ssv4");
        pair
    };
    let (first, second) = (generations(), generations());
    Ok(first.0 == first.1 && second.0 == second.1)
}

/// Members with a lease live, others have gone; then one more lease ends.
fn gone_members_leave_no_entry(case: &Case<'_>) -> Result<(), String> {
    let leases = texts(&case["leases"]);
    let mut cluster = Cluster::formed();
    let mut alive: Vec<Server> = Vec::new();
    let entries = case["storageVersions"].as_array().into_iter().flatten();
    let entries: Vec<(&str, &str)> = entries
        .filter_map(|pair| Some((pair[0].as_str()?, pair[1].as_str()?)))
        .collect();
    for id in leases.iter().chain(entries.iter().map(|(id, _)| id)) {
        if !alive.iter().any(|server| server.id.as_str() == *id) {
            alive.push(cluster.joins(id));
        }
    }
    for (id, encoding) in &entries {
        let server = alive.iter().find(|server| server.id.as_str() == *id);
        let server = server.ok_or("an entry of nobody")?.clone();
        let mut entry = of(WIDGETS).decodes("v1 v2").entry();
        entry.stance = Stance::Fixed {
            encoding: version(encoding),
        };
        accepted(cluster.send(Command::Report(synod_model::Report {
            number: next_number(&server),
            member: server.id,
            epoch: server.epoch,
            entries: vec![entry],
            replace: true,
        })));
    }
    let before = &case["expectedBefore"];
    if before.is_object() {
        let expected = before["commonEncodingVersion"].as_str().map(str::to_owned);
        expect_eq("common before", &cluster.common(WIDGETS), &expected)?;
    }
    let deleted = case["deleteLease"].as_str();
    cluster.pass(TTL);
    for server in &alive {
        let id = server.id.as_str();
        if leases.contains(&id) && deleted != Some(id) {
            accepted(cluster.send(renew(server)));
        }
    }
    cluster.expires();
    check_collected(&cluster, &case["expected"])
}

fn check_collected(cluster: &Cluster, expected: &Value) -> Result<(), String> {
    let Some(view) = cluster.version(WIDGETS) else {
        return expect_eq("object", &expected.as_str(), &Some("NotFound"));
    };
    let found: Vec<(&str, Option<&str>)> = view
        .entries()
        .map(|(id, row)| (id.as_str(), row.encoding.as_ref().map(ApiVersion::as_str)))
        .collect();
    let pairs = expected["storageVersions"].as_array().into_iter().flatten();
    let pairs: Vec<(&str, Option<&str>)> = pairs
        .filter_map(|pair| Some((pair[0].as_str()?, pair[1].as_str())))
        .collect();
    expect_eq("entries", &found, &pairs)?;
    let status = &view.row.status;
    if let Some(common) = expected.get("commonEncodingVersion") {
        let found = status.common.as_ref().map(ApiVersion::as_str);
        expect_eq("common", &found, &common.as_str())?;
    }
    if let Some(condition) = expected.get("condition") {
        expect_eq(
            "condition",
            &Some(status.all_equal.status.as_str()),
            &condition.as_str(),
        )?;
    }
    if let Some(count) = expected.get("conditionCount") {
        let conditions = [&status.all_equal, &status.decodable];
        // The other condition is Synod's own.
        let theirs = conditions
            .into_iter()
            .filter(|condition| condition.kind == OF_THEM);
        expect_eq("conditions", &Some(theirs.count() as u64), &count.as_u64())?;
    }
    Ok(())
}

/// An expiry names a live member, for whatever reason: apply checks its deadline. Returns what the member encodes
/// afterwards.
fn a_live_member_is_not_removed() -> Option<String> {
    let mut cluster = Cluster::formed();
    let server = cluster.starts("a", &[of(WIDGETS)]);
    cluster.send(Command::Expire(Expire {
        members: [(server.id.clone(), server.epoch)].into(),
        ..Expire::default()
    }));
    cluster.encoding(&server, WIDGETS)
}

/// Between the leader's look and the removal the member comes back and reports. Returns what it encodes afterwards.
fn a_report_in_between_is_not_lost() -> Option<String> {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of(WIDGETS)]);
    cluster.pass(TTL);
    let seen = cluster.due();
    assert_eq!(seen.members.len(), 1);
    let back = cluster.join("a", "another");
    cluster.reports(&back, &[of(WIDGETS)]);
    cluster.send(Command::Expire(seen));
    cluster.encoding(&back, WIDGETS)
}

/// The entry of this name in the shared file.
fn described(name: &str) -> Value {
    suite::document(SHARED)["entries"][name].clone()
}

fn id(name: &str) -> String {
    text(&described(name), "apiServerID").to_owned()
}

fn encoding(name: &str) -> String {
    text(&described(name), "encodingVersion").to_owned()
}

fn entry(name: &str) -> ReportEntry {
    let described = described(name);
    let versions = |field: &str| texts(&described[field]).into_iter().map(version).collect();
    ReportEntry {
        resource: resource(WIDGETS),
        kind: Kind::parse("Widget").expect("a legal kind"),
        decodable: versions("decodableVersions"),
        served: versions("servedVersions"),
        stance: Stance::Fixed {
            encoding: version(text(&described, "encodingVersion")),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

/// The report that led to a row.
fn said(row: &synod_machine::EntryRow) -> ReportEntry {
    ReportEntry {
        resource: resource(WIDGETS),
        kind: row.kind.clone(),
        decodable: row.decodable.clone(),
        served: row.served.clone(),
        stance: row.stance.clone(),
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

fn text<'a>(value: &'a impl Fields, field: &str) -> &'a str {
    let text = value.field(field).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("{field} is no text"))
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

fn expect_eq<A: PartialEq<B> + std::fmt::Debug, B: std::fmt::Debug>(
    what: &str,
    found: &A,
    expected: &B,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, expected {expected:?}"))
}
