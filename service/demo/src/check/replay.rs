//! The objects that Synod keeps, replayed from the recording of a watch.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::Value;

use super::evidence::{File, Line};
use super::finding::{Check, Finding};
use super::timeline::{Change, Counter, Name, field};
use crate::codec::{self, HubObject};

/// Every write of every object, in order.
#[derive(Debug, Default)]
pub(super) struct Replay<'a> {
    pub(super) writes: Vec<Write<'a>>,
    /// The resources of all collections that were ever declared.
    pub(super) collections: BTreeSet<String>,
}

/// A change of an object at one revision.
#[derive(Debug)]
pub(super) struct Write<'a> {
    pub(super) revision: u64,
    pub(super) resource: String,
    pub(super) name: String,
    pub(super) is_removal: bool,
    /// Whether the collection was strict at that revision.
    pub(super) strict: bool,
    /// The version that the event names.
    pub(super) encoding: String,
    pub(super) data: Value,
    pub(super) line: &'a Line<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "type")]
    change: Change,
    name: String,
    collection: Option<Collection>,
    stored_object: Option<StoredObject>,
}

#[derive(Debug, Deserialize)]
struct Collection {
    resource: Name,
    rules: Rules,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rules {
    strict_storage_version: bool,
}

#[derive(Debug, Deserialize)]
struct StoredObject {
    resource: Name,
    content: Content,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    encoding_version: String,
    data: String,
}

impl<'a> Replay<'a> {
    /// Replays a recording from its beginning; also returns what cannot be replayed.
    pub(super) fn of(watch: &'a File<Value>) -> (Self, Vec<Finding>) {
        let mut replay = Self::default();
        let mut strict = BTreeSet::new();
        let mut findings = Vec::new();
        for line in &watch.lines {
            let Some(events) = line.value.get("events") else {
                continue;
            };
            if let Err(fault) = replay.take(events, &mut strict, line) {
                let finding = Finding::new(Check::Strict, fault);
                findings.push(finding.with_evidence(watch.at(line)));
            }
        }
        (replay, findings)
    }

    fn take(
        &mut self,
        events: &Value,
        strict: &mut BTreeSet<String>,
        line: &'a Line<Value>,
    ) -> Result<(), String> {
        let revision: Counter = field(events, "revision")?;
        for event in field::<Vec<Event>>(events, "events")? {
            if let Some(collection) = event.collection {
                let resource = collection.resource.to_string();
                self.collections.insert(resource.clone());
                if collection.rules.strict_storage_version && event.change != Change::Removed {
                    strict.insert(resource);
                } else {
                    strict.remove(&resource);
                }
            } else if let Some(object) = event.stored_object {
                let resource = object.resource.to_string();
                let bytes = BASE64.decode(object.content.data.as_bytes());
                let bytes = bytes.map_err(|error| format!("{}: {error}", event.name))?;
                self.writes.push(Write {
                    revision: revision.0,
                    is_removal: event.change == Change::Removed,
                    strict: strict.contains(&resource),
                    encoding: object.content.encoding_version,
                    data: serde_json::from_slice(&bytes)
                        .map_err(|error| format!("{}: {error}", event.name))?,
                    name: event.name,
                    resource,
                    line,
                });
            }
        }
        Ok(())
    }

    /// The writes that stored an object: all but removals.
    pub(super) fn stored(&self) -> impl Iterator<Item = &Write<'a>> {
        self.writes.iter().filter(|write| !write.is_removal)
    }

    /// The objects of a resource after a revision: the last write of each, by name.
    pub(super) fn present(&self, resource: &str, revision: u64) -> BTreeMap<&str, &Write<'a>> {
        let mut present = BTreeMap::new();
        let writes = self.writes.iter();
        for write in writes.filter(|write| write.resource == resource && write.revision <= revision)
        {
            if write.is_removal {
                present.remove(write.name.as_str());
            } else {
                present.insert(write.name.as_str(), write);
            }
        }
        present
    }
}

impl Write<'_> {
    /// The object, decoded from the version that it names.
    ///
    /// # Errors
    ///
    /// The data cannot be decoded.
    pub(super) fn object(&self) -> Result<HubObject, String> {
        let version = codec::api_version(&self.data);
        let decoded = HubObject::decode(&self.data, [version]);
        decoded.map_err(|fault| fault.to_string())
    }
}
