//! Check 5: every object can be read, and no acknowledged write is lost. The part about objects that Synod keeps is in
//! `kept`.

use std::collections::BTreeMap;

use super::evidence::{Evidence, File, Line};
use super::finding::{Check, Finding};
use super::replay::Replay;
use crate::codec::{self, HubObject};
use crate::records::{Answered, Asked, ClientAnswer, Sent, StoredWrite, WriteStage};

type Key<'a> = (&'a str, &'a str);

/// The writes of each object, in the store's order.
type Journal<'a> = BTreeMap<Key<'a>, Vec<&'a Line<StoredWrite>>>;

pub(super) fn check(evidence: &Evidence, replay: &Replay<'_>) -> Vec<Finding> {
    let mut journal: Journal<'_> = BTreeMap::new();
    for line in &evidence.store.lines {
        journal.entry(key_of(&line.value)).or_default().push(line);
    }
    let mut findings = Vec::new();
    findings.extend(unbroken(&evidence.store, &journal));
    findings.extend(kept(evidence, &journal));
    findings.extend(acknowledged(&evidence.clients, &journal, replay));
    findings.extend(read_back(&evidence.clients));
    for server in &evidence.servers {
        findings.extend(landed(server, &evidence.store));
    }
    findings
}

fn key_of(write: &StoredWrite) -> Key<'_> {
    (&write.resource, &write.name)
}

fn finding(message: impl Into<String>) -> Finding {
    Finding::new(Check::Objects, message)
}

/// The stored object, decoded from the version that it names.
fn stored(write: &StoredWrite) -> Result<HubObject, String> {
    let decoded = HubObject::decode(&write.data, [codec::api_version(&write.data)]);
    decoded.map_err(|fault| fault.to_string())
}

/// Gaps in positions and versions, and writes that cannot be read, lost a change or lost the object's colour.
fn unbroken(store: &File<StoredWrite>, journal: &Journal<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (position, line) in (1..).zip(&store.lines) {
        if line.value.position != position {
            let message = format!("position {position} was to come in the store's journal");
            findings.push(finding(message).with_evidence(store.at(line)));
            break;
        }
    }
    for ((resource, name), lines) in journal {
        let mut before = None;
        for (version, line) in (1..).zip(lines) {
            let fault = match stored(&line.value) {
                Err(fault) => format!("it cannot be read: {fault}"),
                Ok(object)
                    if line.value.version != version || !follows(before.as_ref(), &object) =>
                {
                    format!(
                        "a change was lost: number {} was to come",
                        next(before.as_ref())
                    )
                }
                Ok(object) if object.color != HubObject::color_of(name) => {
                    format!("its colour {:?} was lost", HubObject::color_of(name))
                }
                Ok(object) => {
                    before = Some(object);
                    continue;
                }
            };
            findings
                .push(finding(format!("{resource}/{name}: {fault}")).with_evidence(store.at(line)));
            break;
        }
    }
    findings
}

/// Whether an object may be stored after the one before: as its next change, or unchanged by a migration.
pub(super) fn follows(before: Option<&HubObject>, object: &HubObject) -> bool {
    object.number == next(before) || before == Some(object)
}

/// The number of the object after its next change.
pub(super) fn next(before: Option<&HubObject>) -> u64 {
    before.map_or(1, |before| before.number + 1)
}

/// Objects that are not stored at the end as they were written last, or that were never written.
fn kept(evidence: &Evidence, journal: &Journal<'_>) -> Vec<Finding> {
    let objects = evidence.objects.lines.iter().map(|line| {
        let object = &line.value;
        ((object.resource.as_str(), object.name.as_str()), line)
    });
    let objects: BTreeMap<Key<'_>, _> = objects.collect();
    let mut findings = Vec::new();
    for (key, writes) in journal {
        let Some(last) = writes.last() else { continue };
        let object = objects.get(key).map(|line| &line.value);
        let same = object.is_some_and(|object| {
            (object.version, &object.data) == (last.value.version, &last.value.data)
        });
        if !same {
            let message = format!("{}/{} is not stored as it was written last", key.0, key.1);
            findings.push(finding(message).with_evidence(evidence.store.at(last)));
        }
    }
    for (key, line) in objects
        .iter()
        .filter(|(key, _)| !journal.contains_key(*key))
    {
        let message = format!("{}/{} is stored, and was never written", key.0, key.1);
        findings.push(finding(message).with_evidence(evidence.objects.at(line)));
    }
    findings
}

/// Acknowledged writes that the store has not written.
fn acknowledged(
    clients: &File<Answered>,
    journal: &Journal<'_>,
    replay: &Replay<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in &clients.lines {
        let asked = &line.value;
        let ClientAnswer::Acknowledged(version) = asked.answer else {
            continue;
        };
        if replay.collections.contains(&asked.resource) {
            continue;
        }
        let writes = journal.get(&(asked.resource.as_str(), asked.name.as_str()));
        let place = usize::try_from(version)
            .ok()
            .and_then(|version| version.checked_sub(1));
        let write = writes
            .zip(place)
            .and_then(|(writes, place)| writes.get(place));
        let object = write.and_then(|line| stored(&line.value).ok());
        let is_there = object
            .is_some_and(|object| object.number == asked.number && object.author == asked.client);
        if !is_there {
            let message = format!(
                "{}/{} was acknowledged as version {version} with number {}, which the store has not written",
                asked.resource, asked.name, asked.number
            );
            findings.push(finding(message).with_evidence(clients.at(line)));
        }
    }
    findings
}

/// Reads that cannot be decoded or are older than the client's last acknowledged write; nobody else writes its objects.
fn read_back(clients: &File<Answered>) -> Vec<Finding> {
    let mut known: BTreeMap<(&str, Key<'_>), u64> = BTreeMap::new();
    let mut findings = Vec::new();
    for line in &clients.lines {
        let asked = &line.value;
        let key = (
            asked.client.as_str(),
            (asked.resource.as_str(), asked.name.as_str()),
        );
        let least = known.get(&key).copied().unwrap_or(0);
        let fault = match (&asked.answer, asked.asked) {
            (ClientAnswer::Acknowledged(_), _) => {
                known.insert(key, asked.number);
                continue;
            }
            (ClientAnswer::Read(number), _) if *number < least => {
                format!("number {number} was read after {least} had been acknowledged")
            }
            (ClientAnswer::Missing, Asked::Read) if least > 0 => {
                format!("it is missing after number {least} had been acknowledged")
            }
            (ClientAnswer::Garbled, _) => "what the client made it was lost".to_owned(),
            (ClientAnswer::Undecodable(why), _) => {
                format!("{} could not read it: {why}", asked.server)
            }
            (
                ClientAnswer::Read(_)
                | ClientAnswer::Missing
                | ClientAnswer::Refused
                | ClientAnswer::Conflict
                | ClientAnswer::NotSent
                | ClientAnswer::Unknown(_),
                _,
            ) => continue,
        };
        let message = format!("{}/{}: {fault}", asked.resource, asked.name);
        findings.push(finding(message).with_evidence(clients.at(line)));
    }
    findings
}

/// Writes that a server recorded as landed, and that the store's journal does not have at that position.
fn landed(server: &File<Sent>, store: &File<StoredWrite>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in &server.lines {
        let sent = &line.value;
        let WriteStage::Landed(position) = sent.outcome else {
            continue;
        };
        let place = usize::try_from(position)
            .ok()
            .and_then(|position| position.checked_sub(1));
        let write = place
            .and_then(|place| store.lines.get(place))
            .map(|line| &line.value);
        let same = write.is_some_and(|write| {
            (&write.resource, &write.name, write.version, &write.writer)
                == (&sent.resource, &sent.name, sent.version, &sent.writer)
        });
        if !same {
            let message = format!(
                "{} sent what the store does not have at position {position}",
                server.name
            );
            findings.push(finding(message).with_evidence(server.at(line)));
        }
    }
    findings
}
