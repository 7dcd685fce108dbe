//! The recordings of a run: the meaning of each line of each file.
//!
//! A process of the demo writes a line when something happens and never changes it; the check at the end reads the
//! files and nothing else. The recordings of the replicas' watches are not described here: `synod watch` makes them, in
//! the form that it prints.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of each recording in the directory of the run.
pub(crate) mod files {
    /// The writes of the store, in their order: [`StoredWrite`](super::StoredWrite).
    pub(crate) const STORE: &str = "store.jsonl";
    /// Every object as it is stored at the end: [`StoredObject`](super::StoredObject).
    pub(crate) const OBJECTS: &str = "objects.jsonl";
    /// Marks that relate positions of the store to revisions of Synod: [`Mark`](super::Mark).
    pub(crate) const MARKS: &str = "marks.jsonl";
    /// The requests of clients and their answers: [`Answered`](super::Answered).
    pub(crate) const CLIENTS: &str = "clients.jsonl";
    /// What `synod collections list -o json` answered at the end.
    pub(crate) const COLLECTIONS: &str = "collections.json";
    /// What was done to processes: [`Act`](super::Act).
    pub(crate) const ACTS: &str = "acts.jsonl";
    /// What `synod members list -o json` answered at the end.
    pub(crate) const MEMBERS: &str = "members.json";
    /// What `synod storage-versions list -o json` answered at the end.
    pub(crate) const STORAGE_VERSIONS: &str = "storage-versions.json";

    /// What the next release reads and writes, as `synod check-binary` takes it.
    pub(crate) const MANIFEST: &str = "manifest.yaml";

    /// Part of a file's name: asked before the migrations.
    pub(crate) const BEFORE: &str = "before";
    /// Part of a file's name: asked after the migrations without a roster, with `--assume-complete`.
    pub(crate) const VOUCHED: &str = "vouched";
    /// Part of a file's name: asked after the migrations without a roster, without `--assume-complete`.
    pub(crate) const ASSUMED: &str = "assumed";
    /// Part of a file's name: asked while a server that the roster requires is no member.
    pub(crate) const ABSENT: &str = "absent";
    /// Part of a file's name: asked after the migrations, with all members that the roster requires.
    pub(crate) const AFTER: &str = "after";
    /// Every time at which the verdicts are asked for.
    pub(crate) const ASKED: [&str; 5] = [BEFORE, VOUCHED, ASSUMED, ABSENT, AFTER];

    /// What `synod check-drop -o json` answered about a resource.
    pub(crate) fn drop_verdict(resource: &str, when: &str) -> String {
        format!("check-drop-{resource}-{when}.json")
    }

    /// What `synod check-binary -o json` answered about the next release.
    pub(crate) fn binary_verdict(when: &str) -> String {
        format!("check-binary-{when}.json")
    }

    /// What the watch of a replica saw, as `synod watch` prints it.
    pub(crate) fn watch(replica: u64) -> String {
        format!("watch-{replica}.jsonl")
    }

    /// What an API server sent to the store: [`Sent`](super::Sent).
    pub(crate) fn server(id: &str) -> String {
        format!("{id}.jsonl")
    }

    /// What an API server did with objects that Synod keeps: [`KeptStep`](super::KeptStep).
    pub(crate) fn keeper(id: &str) -> String {
        format!("kept-{id}.jsonl")
    }

    /// What `synod get RESOURCE -o json` answered at the end.
    pub(crate) fn listed(resource: &str) -> String {
        format!("listed-{resource}.json")
    }

    /// Whether [`keeper`] makes this name.
    pub(crate) fn is_of_keeper(name: &str) -> bool {
        name.starts_with("kept-") && name.ends_with(".jsonl")
    }

    /// Whether [`server`] makes this name. The directory also has other recordings.
    pub(crate) fn is_of_server(name: &str) -> bool {
        name.starts_with("apiserver-") && name.ends_with(".jsonl")
    }
}

/// One write of the store. The line is in the journal before the write is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredWrite {
    /// The position in the order of all writes of the store, from 1.
    pub(crate) position: u64,
    /// The time of the write, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
    /// The resource, as in `widgets.example.io`.
    pub(crate) resource: String,
    /// The name of the object.
    pub(crate) name: String,
    /// The position in the order of the object's writes, from 1.
    pub(crate) version: u64,
    /// The writer, as the request names it.
    pub(crate) writer: Writer,
    /// The encoded object.
    pub(crate) data: Value,
}

/// What an API server says of itself with each write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writer {
    /// The id of the member.
    pub(crate) member: String,
    /// The epoch to which the permit belongs.
    pub(crate) epoch: u64,
    /// The version in which the object was encoded.
    pub(crate) encoding: String,
    /// The revision of Synod at which the permit was given: at that revision the member's entry allowed the encoding.
    pub(crate) permit_revision: u64,
}

/// One object as it is stored at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredObject {
    pub(crate) resource: String,
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) data: Value,
}

/// One linearizable read of Synod between two reads of the store's position.
///
/// A write that the store made before the read was asked for was made at no later revision than the one read. A write
/// after the answer was made at no earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The store's last position before the read of Synod was asked for.
    pub(crate) asked_after: u64,
    /// The revision that was read.
    pub(crate) revision: u64,
    /// The store's last position after the read was answered.
    pub(crate) answered_before: u64,
    /// When it was answered, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
}

/// A line about a write that the gate let through. Each write has two: one before it is sent, one with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) at_ms: u64,
    pub(crate) resource: String,
    pub(crate) name: String,
    /// The version that the object has after the write.
    pub(crate) version: u64,
    pub(crate) writer: Writer,
    pub(crate) outcome: WriteStage,
}

/// How far a write of an API server has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WriteStage {
    /// The write is about to be sent.
    Sending,
    /// The store has written it, at this position.
    Landed(u64),
    /// The store had another version of the object and wrote nothing.
    Conflict,
    /// The store was not reached: nothing was written.
    NotSent,
    /// The store did not answer: the write may be made, now or later.
    Unknown,
}

/// A request of a client to an API server, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// When the answer arrived, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) asked: Asked,
    pub(crate) resource: String,
    pub(crate) name: String,
    /// The object's number after a write; 0 for a read.
    pub(crate) number: u64,
    pub(crate) answer: ClientAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked {
    Create,
    Update,
    Read,
}

/// One step of an API server with an object that Synod keeps. The codec records each encoding right before it is sent,
/// and the server records the outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptStep {
    pub(crate) at_ms: u64,
    pub(crate) resource: String,
    pub(crate) name: String,
    /// The object's number after the write.
    pub(crate) number: u64,
    /// The client that asked for the write.
    pub(crate) author: String,
    pub(crate) step: Step,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// The object is encoded in this version, and about to be sent.
    Encoded(String),
    /// Synod has stored the object, at this revision.
    Landed(u64),
    /// Synod has refused the object for good: this version is selected, and the object was encoded in another one.
    NotSelected(String),
    /// Nothing was stored, for the reason given here.
    NotStored(String),
    /// The outcome is unknown.
    Unknown,
}

/// The answer to a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientAnswer {
    /// The object is written, as this version; if Synod keeps the object, as this revision.
    Acknowledged(u64),
    /// The object has this number and the colour that its client gave it.
    Read(u64),
    /// The object exists and does not have the colour that its client gave it.
    Garbled,
    /// The object does not exist.
    Missing,
    /// The gate is closed: nothing was sent to the store.
    Refused,
    /// Somebody else has written the object, it exists already, or Synod refused its version.
    Conflict,
    /// The server cannot decode what is stored.
    Undecodable(String),
    /// The server, or the store behind it, was not reached: nothing was done.
    NotSent,
    /// The outcome is unknown.
    Unknown(String),
}

/// What the demo did to a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) at_ms: u64,
    pub(crate) deed: Deed,
    /// The process, as in `replica-2` or `apiserver-a`.
    pub(crate) process: String,
    /// The role of the process at the time, as in `leader` or `release 1.1`.
    #[serde(rename = "as")]
    pub(crate) role: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Deed {
    /// The process was started, and is ready.
    Started,
    /// The process was started, and ended by itself, since Synod refused it.
    Refused,
    /// The process was asked to end, and has ended.
    Stopped,
    /// The process was killed with SIGKILL.
    Killed,
}
