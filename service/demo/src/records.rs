//! The raw recordings of a run: what each line of each file says.
//!
//! A process of the demo writes a line when something happens and never looks at it again; the check at the end reads
//! the files and nothing else. What the replicas' watchers saw is not here: those recordings are made by `synod watch`,
//! in the form that it prints.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where each recording is, below the directory of the run.
pub(crate) mod files {
    /// What the store wrote, in its order: [`StoredWrite`](super::StoredWrite).
    pub(crate) const STORE: &str = "store.jsonl";
    /// Every object as it is stored in the end: [`StoredObject`](super::StoredObject).
    pub(crate) const OBJECTS: &str = "objects.jsonl";
    /// How the order of the store and that of Synod lie beside each other: [`Mark`](super::Mark).
    pub(crate) const MARKS: &str = "marks.jsonl";
    /// What clients asked for and were answered: [`Answered`](super::Answered).
    pub(crate) const CLIENTS: &str = "clients.jsonl";
    /// What Synod answers in the end when it is asked for the collections of objects that it keeps.
    pub(crate) const COLLECTIONS: &str = "collections.json";
    /// What was done to processes: [`Act`](super::Act).
    pub(crate) const ACTS: &str = "acts.jsonl";
    /// What `synod members -o json` answered in the end.
    pub(crate) const MEMBERS: &str = "members.json";
    /// What `synod storage-versions list -o json` answered in the end.
    pub(crate) const STORAGE_VERSIONS: &str = "storage-versions.json";

    /// What the next release reads and writes, as `synod check-binary` takes it.
    pub(crate) const MANIFEST: &str = "manifest.yaml";

    /// Before the migrations, in the names of answers.
    pub(crate) const BEFORE: &str = "before";
    /// After the migrations, while nobody has said who must speak, and somebody vouches for it that nobody else writes.
    pub(crate) const VOUCHED: &str = "vouched";
    /// The same, and nobody vouches for it.
    pub(crate) const ASSUMED: &str = "assumed";
    /// While a server that a roster asks for does not take part.
    pub(crate) const ABSENT: &str = "absent";
    /// After the migrations, when all take part that a roster asks for.
    pub(crate) const AFTER: &str = "after";
    /// Every time at which it was asked what is safe.
    pub(crate) const ASKED: [&str; 5] = [BEFORE, VOUCHED, ASSUMED, ABSENT, AFTER];

    /// What `synod check-drop -o json` answered about a resource.
    pub(crate) fn drop_verdict(resource: &str, when: &str) -> String {
        format!("check-drop-{resource}-{when}.json")
    }

    /// What `synod check-binary -o json` answered about the next release.
    pub(crate) fn binary_verdict(when: &str) -> String {
        format!("check-binary-{when}.json")
    }

    /// What the watcher of a replica saw, as `synod watch` prints it.
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

    /// What `synod get RESOURCE -o json` answered in the end.
    pub(crate) fn listed(resource: &str) -> String {
        format!("listed-{resource}.json")
    }

    /// Whether a file is what [`keeper`] names.
    pub(crate) fn is_of_keeper(name: &str) -> bool {
        name.starts_with("kept-") && name.ends_with(".jsonl")
    }

    /// Whether a file is what [`server`] names: those of all servers lie in one directory with other recordings.
    pub(crate) fn is_of_server(name: &str) -> bool {
        name.starts_with("apiserver-") && name.ends_with(".jsonl")
    }
}

/// One write that the store has made. The line is in the journal before the write is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredWrite {
    /// Counts the writes of the store, from 1.
    pub(crate) position: u64,
    /// When, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
    /// The resource, as in `widgets.example.io`.
    pub(crate) resource: String,
    /// The name of the object.
    pub(crate) name: String,
    /// Counts the writes of the object, from 1.
    pub(crate) version: u64,
    /// Who wrote, by its own account.
    pub(crate) writer: Writer,
    /// The object, encoded.
    pub(crate) data: Value,
}

/// What an API server says of itself with each write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writer {
    /// The member.
    pub(crate) member: String,
    /// The epoch that its permit belongs to.
    pub(crate) epoch: u64,
    /// The version in which it encoded.
    pub(crate) encoding: String,
    /// The revision of Synod at which its permit was given: its entry allowed the encoding at that revision.
    pub(crate) permit_revision: u64,
}

/// One object as it is stored in the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredObject {
    pub(crate) resource: String,
    pub(crate) name: String,
    pub(crate) version: u64,
    pub(crate) data: Value,
}

/// One linearizable read of Synod between two looks at the store.
///
/// Whatever the store had written before the read was asked for was written at no later revision than the one answered;
/// whatever it wrote after the read was answered was written at no earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The store's last position before the read was asked for.
    pub(crate) asked_after: u64,
    /// The revision that was read.
    pub(crate) revision: u64,
    /// The store's last position after the read was answered.
    pub(crate) answered_before: u64,
    /// When it was answered, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
}

/// What an API server did with one write that its gate let through. Two lines: it is sent, then it is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) at_ms: u64,
    pub(crate) resource: String,
    pub(crate) name: String,
    /// The version that the object would have.
    pub(crate) version: u64,
    pub(crate) writer: Writer,
    pub(crate) outcome: WriteStage,
}

/// How far a write of an API server came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WriteStage {
    /// It is about to be sent.
    Sending,
    /// The store has written it, at this position.
    Landed(u64),
    /// The store had another version of the object and wrote nothing.
    Conflict,
    /// The store was not reached: nothing was written.
    NotSent,
    /// The store did not answer: it may be written, now or later.
    Unknown,
}

/// What a client asked of an API server, and what it was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// When the answer was there, in milliseconds since the Unix epoch.
    pub(crate) at_ms: u64,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) asked: Asked,
    pub(crate) resource: String,
    pub(crate) name: String,
    /// What a write would set the object's number to. For a read 0.
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

/// What an API server did with an object that Synod keeps: the codec says each time what it has encoded, right before
/// that is sent, and the server says what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptStep {
    pub(crate) at_ms: u64,
    pub(crate) resource: String,
    pub(crate) name: String,
    /// What the write would set the object's number to.
    pub(crate) number: u64,
    /// The client that asked for it.
    pub(crate) author: String,
    pub(crate) step: Step,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// It is encoded in this version, and about to be sent.
    Encoded(String),
    /// Synod has stored it, at this revision.
    Landed(u64),
    /// Synod has refused it for good, since this version is selected and it was encoded in another one.
    NotSelected(String),
    /// Nothing was stored, for another reason.
    NotStored(String),
    /// Nobody knows whether it is stored.
    Unknown,
}

/// What a client was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientAnswer {
    /// It is written, as this version of the object; of an object that Synod keeps, as this revision.
    Acknowledged(u64),
    /// The object has this number, and its colour is what the client made it.
    Read(u64),
    /// The object is there and is not what any client made it: its colour was lost.
    Garbled,
    /// There is no such object.
    Missing,
    /// The gate is closed: nothing was sent to the store.
    Refused,
    /// Somebody else has written the object, or it is there already.
    Conflict,
    /// The server cannot decode what is stored.
    Undecodable(String),
    /// The server was not reached: nothing was done.
    NotSent,
    /// Nobody knows whether it was done.
    Unknown(String),
}

/// What the demo did to a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) at_ms: u64,
    pub(crate) deed: Deed,
    /// The process, as in `replica-2` or `apiserver-a`.
    pub(crate) process: String,
    /// What it was at the time, as in `leader` or `release 1.1`.
    #[serde(rename = "as")]
    pub(crate) role: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Deed {
    /// It was started, and does what it is for.
    Started,
    /// It was started, and ended by itself, since Synod did not let it in.
    Refused,
    /// It was asked to end, and has ended.
    Stopped,
    /// It was killed with SIGKILL.
    Killed,
}
