//! Check 11: no migration outlived its agreement, and one that succeeded left nothing in another version.
//!
//! What Synod says is stored is compared with the store itself: when a migration has succeeded, and when an old version
//! was called safe to drop, no object was stored in any version but the new one.

use std::collections::BTreeMap;

use serde_json::Value;

use super::evidence::Evidence;
use super::finding::{Check, Finding};
use super::marks::Marks;
use super::replay::Replay;
use super::timeline::{Counter, Migration, Moment, Timeline, field};
use crate::codec;
use crate::records::{StoredWrite, files};
use crate::release::{self, FORGOTTEN, TARGET};

pub(super) fn check(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Vec<Finding> {
    let stored = Stored::of(evidence, replay);
    let mut findings = Vec::new();
    for (before, after) in timeline.steps() {
        findings.extend(outlived(after));
        findings.extend(two_at_once(after));
        for (name, migration) in succeeded(before, after) {
            findings.extend(unfinished(name, migration, after, &stored));
        }
    }
    for resource in release::upgraded() {
        let name = resource.name();
        for when in files::ASKED {
            let verdict = evidence.verdicts.get(&files::drop_verdict(&name, when));
            findings.extend(verdict.and_then(|verdict| rash(&name, verdict, &stored)));
        }
    }
    findings
}

/// Migrations that wait or run although their target is not agreed on, or not since their agreement revision.
fn outlived(moment: &Moment) -> impl Iterator<Item = Finding> + use<'_> {
    let open = moment.migrations.iter().filter(|(_, one)| one.is_open());
    open.filter_map(|(name, migration)| {
        let state = moment.states.get(&migration.resource.to_string());
        let agreed = state.is_some_and(|state| {
            state.current_version == migration.target_version
                && state.agreement_revision == migration.agreement_revision
        });
        let message = || {
            format!(
                "at revision {} {name} is {}, and there is no agreement of revision {} on {:?}",
                moment.revision,
                migration.phase,
                migration.agreement_revision.0,
                migration.target_version
            )
        };
        (!agreed).then(|| Finding::new(Check::Migrated, message()).with_evidence(&moment.line))
    })
}

/// Two running migrations of one resource.
fn two_at_once(moment: &Moment) -> Vec<Finding> {
    let mut running: BTreeMap<String, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    let migrations = moment.migrations.iter();
    for (name, migration) in migrations.filter(|(_, one)| one.phase == Migration::RUNNING) {
        if let Some(other) = running.insert(migration.resource.to_string(), name) {
            let message = format!(
                "at revision {} {name} and {other} both run",
                moment.revision
            );
            findings.push(Finding::new(Check::Migrated, message).with_evidence(&moment.line));
        }
    }
    findings
}

/// The migrations that succeeded at a moment.
pub(super) fn succeeded<'a>(
    before: &'a Moment,
    after: &'a Moment,
) -> impl Iterator<Item = (&'a String, &'a Migration)> {
    let done = |moment: &Moment, name: &str| {
        let migration = moment.migrations.get(name);
        migration.is_some_and(|one| one.phase == Migration::SUCCEEDED)
    };
    let names = after.migrations.iter();
    names.filter(move |(name, _)| done(after, name) && !done(before, name))
}

/// What a migration left in another version although it succeeded.
fn unfinished(
    name: &str,
    migration: &Migration,
    moment: &Moment,
    stored: &Stored<'_>,
) -> Option<Finding> {
    let resource = migration.resource.to_string();
    let target = migration.target_version.as_deref()?;
    let persisted: Vec<Option<&str>> = moment
        .states
        .get(&resource)
        .map(|state| state.persisted.iter())
        .into_iter()
        .flatten()
        .map(|one| one.version.as_deref())
        .collect();
    let left = stored.but(&resource, target, moment.revision);
    let fault = match left {
        Some((object, version)) => format!("{object} was stored in {version}"),
        None if persisted != [Some(target)] => format!("persisted is {persisted:?}"),
        None => return None,
    };
    let revision = moment.revision;
    let message = format!("{name} to {target} succeeded at revision {revision}, and {fault}");
    Some(Finding::new(Check::Migrated, message).with_evidence(&moment.line))
}

/// Whether a version was called safe to drop while an object was stored in it.
fn rash(resource: &str, verdict: &Value, stored: &Stored<'_>) -> Option<Finding> {
    let fault = |fault: String| Some(Finding::new(Check::Migrated, fault));
    let (safe, revision) = match (field::<bool>(verdict, "safe"), revision_of(verdict)) {
        (Ok(safe), Ok(revision)) => (safe, revision),
        (Err(error), _) | (_, Err(error)) => return fault(format!("check-drop: {error}")),
    };
    let (object, version) = stored.but(resource, TARGET, revision).filter(|_| safe)?;
    fault(format!(
        "at revision {revision} {FORGOTTEN} of {resource} was called safe to drop, and {object} was stored in {version}"
    ))
}

pub(super) fn revision_of(verdict: &Value) -> Result<u64, String> {
    let header: Value = field(verdict, "header")?;
    Ok(field::<Counter>(&header, "revision")?.0)
}

/// What was stored at a revision, as far as it is certain.
struct Stored<'a> {
    marks: Marks,
    /// The writes of each object in the servers' own store.
    journal: BTreeMap<(&'a str, &'a str), Vec<&'a StoredWrite>>,
    replay: &'a Replay<'a>,
}

impl<'a> Stored<'a> {
    fn of(evidence: &'a Evidence, replay: &'a Replay<'a>) -> Self {
        let mut journal: BTreeMap<_, Vec<&StoredWrite>> = BTreeMap::new();
        for write in evidence.store.values() {
            let key = (write.resource.as_str(), write.name.as_str());
            journal.entry(key).or_default().push(write);
        }
        Self {
            marks: Marks::of(evidence.marks.lines.iter().map(|line| &line.value)),
            journal,
            replay,
        }
    }

    /// An object that was certainly stored in another version than this one at a revision, and its version.
    fn but(&self, resource: &str, version: &str, revision: u64) -> Option<(&str, &str)> {
        let own = self.journal.iter().filter(|((of, _), _)| *of == resource);
        let mut own = own.filter_map(|((_, name), writes)| {
            let versions = self.present(writes, revision);
            let other = versions.first().copied()?;
            (!versions.contains(&version)).then_some((*name, other))
        });
        if let Some(found) = own.next() {
            return Some(found);
        }
        let mut kept = self
            .replay
            .stored()
            .filter(|write| write.resource == resource);
        let present = self.replay.present(resource, revision);
        let other = kept.find(|write| {
            let last = present.get(write.name.as_str());
            last.is_some_and(|last| last.revision == write.revision && last.encoding != version)
        })?;
        Some((&other.name, &other.encoding))
    }

    /// The versions that an object may have had at a revision: that of the last write that had certainly landed, and
    /// those of later writes that may have landed. Empty if no write had certainly landed.
    fn present(&self, writes: &[&'a StoredWrite], revision: u64) -> Vec<&'a str> {
        let landed = |write: &&&StoredWrite| self.marks.landed(write).before <= revision;
        let Some(last) = writes.iter().take_while(landed).count().checked_sub(1) else {
            return Vec::new();
        };
        let (certain, later) = writes[last..].split_at(1);
        let later = later
            .iter()
            .take_while(|write| self.marks.landed(write).after <= revision);
        let possible = certain.iter().chain(later);
        possible
            .map(|write| codec::api_version(&write.data))
            .collect()
    }
}
