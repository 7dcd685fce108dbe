//! Checks 8 and 10, and the parts of checks 5 and 7 about objects that Synod keeps.
//!
//! They need no marks: the recording of the watch has every object that Synod ever held, with its revision and its
//! bytes, and every selection of a version.

use std::collections::BTreeMap;

use serde_json::Value;

use super::evidence::Evidence;
use super::finding::{Check, Finding};
use super::objects::{follows, next};
use super::replay::{Replay, Write};
use super::timeline::{Counter, Timeline, field};
use crate::codec::{self, HubObject};
use crate::records::ClientAnswer;

pub(super) fn check(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Vec<Finding> {
    let at = |finding: Finding, write: &Write<'_>| {
        finding.with_evidence(evidence.watches[0].at(write.line))
    };
    let mut findings = Vec::new();
    for write in replay.stored() {
        let faults = [strict(timeline, write), persisted(timeline, write)];
        findings.extend(faults.into_iter().flatten().map(|found| at(found, write)));
    }
    findings.extend(unbroken(replay).map(|(found, write)| at(found, write)));
    findings.extend(acknowledged(evidence, replay));
    for resource in &replay.collections {
        if let Err(fault) = listed(evidence, replay, resource) {
            findings.push(Finding::new(Check::Listed, format!("{resource}: {fault}")));
        }
    }
    findings
}

/// Whether an object of a strict collection is in the version that is selected at the revision of its write.
fn strict(timeline: &Timeline, write: &Write<'_>) -> Option<Finding> {
    let states = &timeline.at(write.revision).states;
    let selected = states.get(&write.resource)?.selected_version.as_deref();
    let version = codec::api_version(&write.data);
    let fault = if version != write.encoding {
        format!("its bytes are in {version}")
    } else if write.strict && selected != Some(version) {
        format!("{} is selected there", selected.unwrap_or("nothing"))
    } else {
        return None;
    };
    let Write {
        revision,
        resource,
        name,
        encoding,
        ..
    } = write;
    let message =
        format!("{resource}/{name} was stored in {encoding} at revision {revision}: {fault}");
    Some(Finding::new(Check::Strict, message))
}

/// Whether `persisted` holds the version at the revision at which it was stored.
fn persisted(timeline: &Timeline, write: &Write<'_>) -> Option<Finding> {
    let states = &timeline.at(write.revision).states;
    let known = states.get(&write.resource).is_some_and(|state| {
        let mut persisted = state.persisted.iter();
        persisted.any(|persisted| persisted.version.as_ref() == Some(&write.encoding))
    });
    let message = || {
        format!(
            "{}/{} is stored in {} at revision {}, and persisted of {0} does not hold it there",
            write.resource, write.name, write.encoding, write.revision
        )
    };
    (!known).then(|| Finding::new(Check::Persisted, message()))
}

/// Writes that cannot be read, are not the next change of their object, or have lost its colour.
fn unbroken<'r, 'a>(
    replay: &'r Replay<'a>,
) -> impl Iterator<Item = (Finding, &'r Write<'a>)> + use<'r, 'a> {
    let mut last: BTreeMap<(&str, &str), HubObject> = BTreeMap::new();
    replay.stored().filter_map(move |write| {
        let key = (write.resource.as_str(), write.name.as_str());
        let before = last.get(&key);
        let fault = match write.object() {
            Err(fault) => format!("it cannot be read: {fault}"),
            Ok(object) if !follows(before, &object) => {
                format!("a change was lost: number {} was to come", next(before))
            }
            Ok(object) if object.color != HubObject::color_of(&write.name) => {
                format!("its colour {:?} was lost", HubObject::color_of(&write.name))
            }
            Ok(object) => {
                last.insert(key, object);
                return None;
            }
        };
        let message = format!("{}/{}: {fault}", write.resource, write.name);
        Some((Finding::new(Check::Objects, message), write))
    })
}

/// Acknowledged writes that the watch does not have at the acknowledged revision.
fn acknowledged(evidence: &Evidence, replay: &Replay<'_>) -> Vec<Finding> {
    let clients = &evidence.clients;
    let mut findings = Vec::new();
    for line in &clients.lines {
        let asked = &line.value;
        let ClientAnswer::Acknowledged(revision) = asked.answer else {
            continue;
        };
        if !replay.collections.contains(&asked.resource) {
            continue;
        }
        let is_there = replay.stored().any(|write| {
            (write.revision, &write.resource, &write.name)
                == (revision, &asked.resource, &asked.name)
                && write.object().is_ok_and(|object| {
                    (object.number, &object.author) == (asked.number, &asked.client)
                })
        });
        if !is_there {
            let message = format!(
                "{}/{} was acknowledged at revision {revision} with number {}, which no watcher saw there",
                asked.resource, asked.name, asked.number
            );
            let finding = Finding::new(Check::Objects, message);
            findings.push(finding.with_evidence(clients.at(line)));
        }
    }
    findings
}

/// Whether the list at the end, and Synod's counts by version, agree with the watch.
///
/// # Errors
///
/// The first difference.
fn listed(evidence: &Evidence, replay: &Replay<'_>, resource: &str) -> Result<(), String> {
    let list = evidence.listed.get(resource);
    let list = list.ok_or("there is no list of it")?;
    let items: Vec<Value> = field(list, "items")?;
    let seen = replay.present(resource, revision_of(list)?);
    if items.len() != seen.len() {
        return Err(format!(
            "{} objects are listed, and the watch adds up to {}",
            items.len(),
            seen.len()
        ));
    }
    for item in &items {
        let text = |place| item.pointer(place).and_then(Value::as_str);
        let name = text("/metadata/name").unwrap_or_default();
        let write = seen.get(name);
        let write = write.ok_or_else(|| format!("{name} is listed, and no watcher saw it"))?;
        let revision = write.revision.to_string();
        let is_same = text("/metadata/resourceVersion") == Some(&revision)
            && text("/apiVersion") == Some(&write.encoding)
            && item.get("spec") == write.data.get("spec");
        if !is_same {
            return Err(format!(
                "{name} is listed as {item}, and the watch has it otherwise"
            ));
        }
    }
    counted(evidence, replay, resource)
}

/// Whether Synod counts as many objects in each version as the watch has.
fn counted(evidence: &Evidence, replay: &Replay<'_>, resource: &str) -> Result<(), String> {
    let revision = revision_of(&evidence.collections)?;
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for write in replay.present(resource, revision).values() {
        *seen.entry(write.encoding.clone()).or_default() += 1;
    }
    let items: Vec<Value> = field(&evidence.collections, "items")?;
    let mut items = items.iter();
    let item = items.find(|item| {
        let name = item.pointer("/collection/metadata/name");
        name.and_then(Value::as_str) == Some(resource)
    });
    let counts: Vec<Value> = field(item.ok_or("its collection is not listed")?, "counts")?;
    let mut told = BTreeMap::new();
    for count in &counts {
        let objects: Counter = field(count, "objects")?;
        told.insert(field::<String>(count, "version")?, objects.0);
    }
    (told == seen)
        .then_some(())
        .ok_or_else(|| format!("Synod counts {told:?}, and the watch adds up to {seen:?}"))
}

fn revision_of(list: &Value) -> Result<u64, String> {
    let header: Value = field(list, "header")?;
    Ok(field::<Counter>(&header, "revision")?.0)
}
