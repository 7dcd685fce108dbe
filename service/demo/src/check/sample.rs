//! A small run, written by hand: two API servers, one resource in vote mode, and every way in which an epoch ends.
//!
//! | revision | what happened |
//! |---|---|
//! | 1 | the settings |
//! | 2, 3 | a joins as epoch 2 with release 1.1, and reports: v1 is selected |
//! | 4, 5 | b joins as epoch 4 with release 1.1, and reports |
//! | 6 | a leaves, drained |
//! | 7, 8 | a joins as epoch 7 with release 1.2, and reports: it decodes both and prefers v2 |
//! | 9 | b has been killed and expires: a is alone, so v2 is selected |
//! | 10 | a adopts v2 |
//! | 11, 12 | b joins as epoch 11 with release 1.2, and reports |

pub(super) mod kept;
pub(super) mod migrated;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::evidence::{Evidence, File};
use crate::codec::HubObject;
use crate::records::{
    Act, Answered, Asked, ClientAnswer, Deed, KeptStep, Mark, Sent, StoredObject, StoredWrite,
    WriteStage, Writer,
};

pub(super) const GADGETS: &str = "gadgets.example.io";
const V1: &str = "example.io/v1";
const V2: &str = "example.io/v2";

/// The files of a run, before they are read. Tests plant their faults here.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) watches: [Vec<Value>; 3],
    pub(super) store: Vec<StoredWrite>,
    pub(super) objects: Vec<StoredObject>,
    pub(super) marks: Vec<Mark>,
    pub(super) clients: Vec<Answered>,
    pub(super) server: Vec<Sent>,
    pub(super) acts: Vec<Act>,
    pub(super) members: Value,
    pub(super) storage_versions: Value,
    pub(super) keeper: Vec<KeptStep>,
    pub(super) collections: Value,
    pub(super) listed: BTreeMap<String, Value>,
    pub(super) verdicts: BTreeMap<String, Value>,
}

impl Sample {
    /// A run without a fault, except that it is too short for checks 12 and 14.
    pub(super) fn good() -> Self {
        let store = writes();
        let objects = store.last().map(|write| StoredObject {
            resource: write.resource.clone(),
            name: write.name.clone(),
            version: write.version,
            data: write.data.clone(),
        });
        let server = store
            .iter()
            .filter(|write| write.writer.member == "apiserver-a")
            .map(sent);
        let watch = watch();
        Self {
            clients: store.iter().flat_map(answered).collect(),
            server: server.collect(),
            objects: objects.into_iter().collect(),
            store,
            marks: marks(),
            acts: Vec::new(),
            members: listed_members(),
            storage_versions: listed_storage_versions(),
            keeper: Vec::new(),
            collections: json!({"header": {"revision": "12"}, "items": []}),
            listed: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            watches: [watch.clone(), watch.clone(), watch],
        }
    }

    pub(super) fn evidence(&self) -> Evidence {
        let watches = (1..).zip(&self.watches);
        Evidence {
            watches: watches
                .map(|(id, watch)| file(&format!("watch-{id}.jsonl"), watch))
                .collect(),
            store: file("store.jsonl", &self.store),
            objects: file("objects.jsonl", &self.objects),
            marks: file("marks.jsonl", &self.marks),
            clients: file("clients.jsonl", &self.clients),
            servers: vec![file("apiserver-a.jsonl", &self.server)],
            keepers: vec![file("kept-apiserver-a.jsonl", &self.keeper)],
            acts: file("acts.jsonl", &self.acts),
            members: self.members.clone(),
            storage_versions: self.storage_versions.clone(),
            collections: self.collections.clone(),
            listed: self.listed.clone(),
            verdicts: self.verdicts.clone(),
        }
    }

    /// Changes the event of a kind at a revision, in all three recordings.
    pub(super) fn event(&mut self, revision: u64, kind: &str, change: impl Fn(&mut Value)) {
        let wanted = revision.to_string();
        for watch in &mut self.watches {
            let lines = watch
                .iter_mut()
                .filter(|line| line["events"]["revision"] == wanted);
            let events = lines
                .filter_map(|line| line["events"]["events"].as_array_mut())
                .flatten();
            let found: Vec<&mut Value> = events.filter(|event| event.get(kind).is_some()).collect();
            assert_eq!(
                found.len(),
                1,
                "revision {revision} has one event of {kind}"
            );
            found.into_iter().for_each(|event| change(&mut event[kind]));
        }
    }
}

fn file<T>(name: &str, lines: &[T]) -> File<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let lines = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap() + "\n");
    File::parse(name, &lines.collect::<String>()).unwrap()
}

/// A write as the store records it.
pub(super) fn write(resource: &str, name: &str, number: u64) -> StoredWrite {
    StoredWrite {
        position: number,
        at_ms: 10_000 + number,
        resource: resource.to_owned(),
        name: name.to_owned(),
        version: number,
        writer: Writer {
            member: "apiserver-a".to_owned(),
            epoch: 2,
            encoding: V1.to_owned(),
            permit_revision: 3,
        },
        data: data(name, number, V1),
    }
}

/// The data of a stored object.
pub(super) fn data(name: &str, number: u64, version: &str) -> Value {
    let object = HubObject {
        name: name.to_owned(),
        color: HubObject::color_of(name).to_owned(),
        number,
        author: "client-1".to_owned(),
    };
    object.encode("Gadget", version)
}

fn writes() -> Vec<StoredWrite> {
    let by = |number, member: &str, epoch, permit_revision, version: &str| {
        let mut write = write(GADGETS, "lamp", number);
        write.writer = Writer {
            member: member.to_owned(),
            epoch,
            encoding: version.to_owned(),
            permit_revision,
        };
        write.data = data("lamp", number, version);
        write
    };
    vec![
        by(1, "apiserver-a", 2, 3, V1),
        by(2, "apiserver-b", 4, 5, V1),
        by(3, "apiserver-a", 7, 8, V1),
        // b sent this write before it was killed; the write lands after b has expired.
        by(4, "apiserver-b", 4, 5, V1),
        // a encodes the selected version already, and adopts it later.
        by(5, "apiserver-a", 7, 9, V2),
        by(6, "apiserver-b", 11, 12, V2),
    ]
}

fn marks() -> Vec<Mark> {
    let mark = |position, revision| Mark {
        asked_after: position,
        revision,
        answered_before: position,
        at_ms: 10_000 + position,
    };
    vec![
        mark(0, 3),
        mark(1, 5),
        mark(2, 8),
        mark(3, 9),
        mark(4, 9),
        mark(5, 12),
        mark(6, 12),
    ]
}

fn answered(write: &StoredWrite) -> [Answered; 2] {
    let line = |asked, number, answer| Answered {
        at_ms: write.at_ms,
        client: "client-1".to_owned(),
        server: write.writer.member.clone(),
        asked,
        resource: write.resource.clone(),
        name: write.name.clone(),
        number,
        answer,
    };
    let asked = if write.version == 1 {
        Asked::Create
    } else {
        Asked::Update
    };
    [
        line(
            asked,
            write.version,
            ClientAnswer::Acknowledged(write.version),
        ),
        line(Asked::Read, 0, ClientAnswer::Read(write.version)),
    ]
}

fn sent(write: &StoredWrite) -> Sent {
    Sent {
        at_ms: write.at_ms,
        resource: write.resource.clone(),
        name: write.name.clone(),
        version: write.version,
        writer: write.writer.clone(),
        outcome: WriteStage::Landed(write.position),
    }
}

fn watch() -> Vec<Value> {
    let settings = json!({
        "type": "EVENT_TYPE_ADDED", "kind": "OBJECT_KIND_SETTINGS", "name": "settings",
        "settings": {"writeGraceMs": "2000"},
    });
    let mut watch = vec![revision(1, [settings])];
    watch.extend(while_the_first_is_selected());
    watch.extend(when_the_second_is_selected());
    watch
}

fn while_the_first_is_selected() -> Vec<Value> {
    let status = || status(Some(V1), (Some(V1), 3), 3, Some(V1), &[V1]);
    let reports = |change, entry| resource(change, Some(entry), None, status());
    vec![
        revision(2, [member("ADDED", "apiserver-a", 2, "1.1", false)]),
        revision(
            3,
            [
                member("MODIFIED", "apiserver-a", 2, "1.1", true),
                reports("ADDED", old("apiserver-a", 3)),
                state("ADDED", &status(), &[V1], &[]),
            ],
        ),
        json!({"bookmark": {"revision": "3"}}),
        revision(4, [member("ADDED", "apiserver-b", 4, "1.1", false)]),
        revision(
            5,
            [
                member("MODIFIED", "apiserver-b", 4, "1.1", true),
                reports("MODIFIED", old("apiserver-b", 5)),
            ],
        ),
        revision(
            6,
            [
                member("REMOVED", "apiserver-a", 2, "1.1", true),
                resource("MODIFIED", None, Some("apiserver-a"), status()),
            ],
        ),
        revision(7, [member("ADDED", "apiserver-a", 7, "1.2", false)]),
        revision(
            8,
            [
                member("MODIFIED", "apiserver-a", 7, "1.2", true),
                reports("MODIFIED", new("apiserver-a", V1, 3, 8)),
            ],
        ),
    ]
}

fn when_the_second_is_selected() -> Vec<Value> {
    let moved = || status(Some(V1), (Some(V2), 9), 9, None, &[V1, V2]);
    let adopted = || status(Some(V2), (Some(V2), 9), 10, Some(V2), &[V1, V2]);
    let encodes = |entry| resource("MODIFIED", Some(entry), None, adopted());
    vec![
        revision(
            9,
            [
                member("REMOVED", "apiserver-b", 4, "1.1", true),
                resource("MODIFIED", None, Some("apiserver-b"), moved()),
                state("MODIFIED", &moved(), &[V1, V2], &[V1]),
            ],
        ),
        revision(
            10,
            [
                encodes(new("apiserver-a", V2, 9, 8)),
                state("MODIFIED", &adopted(), &[V1, V2], &[V1]),
            ],
        ),
        revision(11, [member("ADDED", "apiserver-b", 11, "1.2", false)]),
        revision(
            12,
            [
                member("MODIFIED", "apiserver-b", 11, "1.2", true),
                encodes(new("apiserver-b", V2, 9, 12)),
            ],
        ),
    ]
}

fn listed_members() -> Value {
    json!({
        "header": {"revision": "12"},
        "items": [
            {"member": member_object("apiserver-a", 7, "1.2", true)},
            {"member": member_object("apiserver-b", 11, "1.2", true)},
        ],
    })
}

fn listed_storage_versions() -> Value {
    let mut listed = resource_object(status(Some(V2), (Some(V2), 9), 10, Some(V2), &[V1, V2]));
    listed["entries"] = json!([new("apiserver-a", V2, 9, 8), new("apiserver-b", V2, 9, 12)]);
    json!({"header": {"revision": "12"}, "items": [{"storageVersion": listed}]})
}

fn revision(revision: u64, events: impl Into<Vec<Value>>) -> Value {
    json!({"events": {"revision": revision.to_string(), "events": events.into()}})
}

/// The event of a member.
pub(super) fn member(change: &str, id: &str, epoch: u64, version: &str, reported: bool) -> Value {
    json!({
        "type": format!("EVENT_TYPE_{change}"), "kind": "OBJECT_KIND_MEMBER", "name": id,
        "member": member_object(id, epoch, version, reported),
    })
}

fn member_object(id: &str, epoch: u64, version: &str, reported: bool) -> Value {
    json!({
        "metadata": {"name": id}, "epoch": epoch.to_string(), "ttlMs": "4000", "version": version, "reported": reported,
    })
}

fn resource(change: &str, entry: Option<Value>, removed: Option<&str>, status: Value) -> Value {
    let mut object = resource_object(status);
    object["changedEntries"] = entry.into_iter().collect();
    object["removedMembers"] = removed.into_iter().collect();
    json!({
        "type": format!("EVENT_TYPE_{change}"), "kind": "OBJECT_KIND_STORAGE_VERSION", "name": "example.io.gadgets",
        "storageVersion": object,
    })
}

fn resource_object(status: Value) -> Value {
    json!({
        "metadata": {"name": "example.io.gadgets"},
        "resource": {"group": "example.io", "resource": "gadgets"},
        "status": status,
    })
}

/// The entry of release 1.1.
fn old(member: &str, since: u64) -> Value {
    entry(member, &[V1], V1, V1, 3, since)
}

/// The entry of release 1.2.
fn new(member: &str, encoding: &str, adopted: u64, since: u64) -> Value {
    entry(member, &[V1, V2], V2, encoding, adopted, since)
}

fn entry(
    member: &str,
    decodable: &[&str],
    preferred: &str,
    encoding: &str,
    adopted: u64,
    since: u64,
) -> Value {
    json!({
        "member": member, "kind": "Gadget", "decodableVersions": decodable, "servedVersions": [V1],
        "preferredVersion": preferred, "encodingVersion": encoding,
        "adoptedRevision": adopted.to_string(), "sinceRevision": since.to_string(),
    })
}

fn status(
    common: Option<&str>,
    (selected, selected_revision): (Option<&str>, u64),
    agreement_revision: u64,
    agreed: Option<&str>,
    decodable_by_all: &[&str],
) -> Value {
    json!({
        "commonEncodingVersion": common, "selectedVersion": selected,
        "selectedRevision": selected_revision.to_string(), "agreementRevision": agreement_revision.to_string(),
        "agreedVersion": agreed, "decodableByAll": decodable_by_all, "servedByAll": [V1], "conditions": [],
    })
}

fn state(change: &str, status: &Value, persisted: &[&str], drains: &[&str]) -> Value {
    let known = persisted
        .iter()
        .map(|version| json!({"unknown": false, "hash": "x", "version": version}));
    let unknown = json!({"unknown": true, "hash": ""});
    json!({
        "type": format!("EVENT_TYPE_{change}"), "kind": "OBJECT_KIND_STORAGE_STATE", "name": GADGETS,
        "storageState": {
            "metadata": {"name": GADGETS},
            "resource": {"group": "example.io", "resource": "gadgets"},
            "selectedVersion": status["selectedVersion"], "selectedRevision": status["selectedRevision"],
            "agreementRevision": status["agreementRevision"],
            "commonEncodingVersion": status["commonEncodingVersion"], "currentVersion": status["agreedVersion"],
            "persisted": known.chain([unknown]).collect::<Vec<Value>>(),
            "drains": drains.iter().map(|version| json!({"version": version, "untilLogTimeMs": "9"})).collect::<Vec<Value>>(),
        },
    })
}

/// The acts of a run in which all of them took place.
pub(super) fn acts() -> Vec<Act> {
    let act = |deed, process: &str, role: &str| Act {
        at_ms: 10_000,
        deed,
        process: process.to_owned(),
        role: role.to_owned(),
    };
    vec![
        act(Deed::Started, "replica-2", "replica"),
        act(Deed::Stopped, "apiserver-a", "release 1.0"),
        act(Deed::Killed, "apiserver-b", "release 1.0"),
        act(Deed::Stopped, "apiserver-a", "release 1.1"),
        act(Deed::Killed, "apiserver-b", "release 1.1"),
        act(Deed::Killed, "replica-2", "leader"),
        act(Deed::Started, "replica-2", "replica"),
    ]
}
