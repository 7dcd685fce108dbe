//! The state of Synod after each revision, rebuilt from the recording of a watch.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::evidence::{File, Line};
use super::finding::{Check, Finding};

/// The state after each revision that changed something that can be watched.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    /// Sorted by revision. The first moment is empty and of revision 0.
    pub(super) moments: Vec<Moment>,
}

/// The state from one revision on.
#[derive(Clone, Debug, Default)]
pub(super) struct Moment {
    pub(super) revision: u64,
    /// The members by id.
    pub(super) members: BTreeMap<String, Member>,
    /// The reported resources by name, as in `widgets.example.io`.
    pub(super) resources: BTreeMap<String, Resource>,
    /// The storage state of each resource by the same name. It outlives the last entry of the resource.
    pub(super) states: BTreeMap<String, RecordedStorageState>,
    /// The migrations by name.
    pub(super) migrations: BTreeMap<String, Migration>,
    /// The rosters by scope.
    pub(super) rosters: BTreeMap<String, Roster>,
    /// The setting `write_grace`: how long a write may land after its member's membership has ended.
    pub(super) write_grace_ms: Option<u64>,
    /// The resources whose entries changed at this revision.
    pub(super) touched: BTreeSet<String>,
    /// The line of the recording.
    pub(super) line: String,
}

/// A 64-bit number, which JSON holds as a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Counter(pub(super) u64);

impl TryFrom<String> for Counter {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

/// An API server that has joined.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Member {
    pub(super) epoch: Counter,
    pub(super) ttl_ms: Counter,
    /// The version of its program.
    pub(super) version: String,
    pub(super) reported: bool,
    /// All other fields; they are only compared.
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// A resource that is reported.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Resource {
    pub(super) metadata: Value,
    pub(super) resource: Name,
    /// The entries by member.
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) status: Status,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Name {
    group: String,
    resource: String,
}

/// The entry of one member for a resource.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) member: String,
    pub(super) decodable_versions: Vec<String>,
    pub(super) served_versions: Vec<String>,
    pub(super) preferred_version: Option<String>,
    pub(super) encoding_version: Option<String>,
    pub(super) adopted_revision: Option<Counter>,
    pub(super) since_revision: Counter,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// What the replicas derive from all entries of a resource.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) common_encoding_version: Option<String>,
    pub(super) selected_version: Option<String>,
    pub(super) selected_revision: Counter,
    pub(super) agreement_revision: Counter,
    pub(super) agreed_version: Option<String>,
    pub(super) decodable_by_all: Vec<String>,
    pub(super) served_by_all: Vec<String>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// The state of a resource that stays when its last entry goes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedStorageState {
    resource: Name,
    pub(super) selected_version: Option<String>,
    pub(super) selected_revision: Counter,
    pub(super) agreement_revision: Counter,
    pub(super) current_version: Option<String>,
    pub(super) common_encoding_version: Option<String>,
    pub(super) persisted: Vec<Persisted>,
    pub(super) drains: Vec<Drain>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Persisted {
    pub(super) version: Option<String>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Drain {
    pub(super) version: String,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// A migration of a resource's objects.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Migration {
    pub(super) resource: Name,
    pub(super) target_version: Option<String>,
    pub(super) agreement_revision: Counter,
    pub(super) phase: String,
    pub(super) claim: Option<Value>,
    pub(super) aborted: Option<String>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// The roster of some resources. The rosters of the demo only name members.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Roster {
    pub(super) rule: RosterRule,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct RosterRule {
    pub(super) members: Vec<String>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// A storage version, as a list holds it.
#[derive(Debug, Deserialize)]
pub(super) struct Listed {
    metadata: Value,
    resource: Name,
    entries: Vec<Entry>,
    status: Status,
}

/// The change of one object.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "type")]
    change: Change,
    name: String,
    member: Option<Member>,
    storage_version: Option<ResourceChange>,
    storage_state: Option<RecordedStorageState>,
    settings: Option<Settings>,
    /// `replay` reads collections and stored objects.
    collection: Option<IgnoredAny>,
    stored_object: Option<IgnoredAny>,
    migration: Option<Migration>,
    roster: Option<Roster>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Change {
    #[serde(rename = "EVENT_TYPE_ADDED")]
    Added,
    #[serde(rename = "EVENT_TYPE_MODIFIED")]
    Modified,
    #[serde(rename = "EVENT_TYPE_REMOVED")]
    Removed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceChange {
    metadata: Value,
    resource: Name,
    changed_entries: Vec<Entry>,
    removed_members: Vec<String>,
    status: Status,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    write_grace_ms: Counter,
}

impl Timeline {
    /// Rebuilds the moments from a recording; also returns the events that do not fit the state before them.
    pub(super) fn of(watch: &File<Value>) -> (Self, Vec<Finding>) {
        let mut moments = vec![Moment::default()];
        let mut findings = Vec::new();
        for line in &watch.lines {
            let Some(events) = line.value.get("events") else {
                continue;
            };
            let before = moments.last().cloned().unwrap_or_default();
            match before.followed_by(events, line) {
                Ok(moment) => moments.push(moment),
                Err(fault) => {
                    let finding = Finding::new(Check::Watchers, fault);
                    findings.push(finding.with_evidence(watch.at(line)));
                }
            }
        }
        (Self { moments }, findings)
    }

    /// The state at a revision.
    pub(super) fn at(&self, revision: u64) -> &Moment {
        let later = self
            .moments
            .partition_point(|moment| moment.revision <= revision);
        // The first moment is of revision 0, so there is always one.
        &self.moments[later.saturating_sub(1)]
    }

    /// The state at `first`, and all later ones up to `last`.
    pub(super) fn from(&self, first: u64, last: u64) -> impl Iterator<Item = &Moment> {
        let later = self.moments.iter();
        let later = later.filter(move |moment| moment.revision > first && moment.revision <= last);
        std::iter::once(self.at(first)).chain(later)
    }

    /// Each moment with the one before.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Moment, &Moment)> {
        self.moments.iter().zip(self.moments.iter().skip(1))
    }
}

impl Moment {
    /// The roster that applies to a resource: the narrowest one that covers it.
    pub(super) fn roster_of(&self, resource: &str) -> Option<&Roster> {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, "core"));
        let scopes = [
            format!("{group}.{plural}"),
            format!("{group}.*"),
            "*".to_owned(),
        ];
        scopes.iter().find_map(|scope| self.rosters.get(scope))
    }

    /// Whether the persisted versions of a resource are on trust: no roster covers it, or it was not migrated since.
    pub(super) fn is_on_trust(&self, resource: &str) -> bool {
        let since = self.states.get(resource);
        let since = since.and_then(|state| state.rest.get("onTrustSince"));
        let since = since.and_then(Value::as_str).unwrap_or("0");
        self.roster_of(resource).is_none() || since != "0"
    }

    /// The members that the roster of a resource requires, and that have no entry.
    pub(super) fn missing(&self, resource: &str) -> BTreeSet<&str> {
        let asked = self.roster_of(resource);
        let asked = asked.into_iter().flat_map(|roster| &roster.rule.members);
        let reported = self.resources.get(resource);
        let speaks = |id: &str| reported.is_some_and(|one| one.entries.contains_key(id));
        asked.map(String::as_str).filter(|id| !speaks(id)).collect()
    }

    fn followed_by(&self, events: &Value, line: &Line<Value>) -> Result<Self, String> {
        let revision: Counter = field(events, "revision")?;
        let changes: Vec<Event> = field(events, "events")?;
        let mut next = Self {
            revision: revision.0,
            touched: BTreeSet::new(),
            line: line.text.clone(),
            ..self.clone()
        };
        for event in changes {
            next.take(event)?;
        }
        Ok(next)
    }

    fn take(&mut self, event: Event) -> Result<(), String> {
        let Event { change, name, .. } = &event;
        let (change, name) = (*change, name.clone());
        if let Some(member) = event.member {
            put(&mut self.members, change, &name, &name, member)
        } else if let Some(update) = event.storage_version {
            let key = update.resource.to_string();
            self.touched.insert(key.clone());
            let before = self
                .resources
                .get(&key)
                .map(|before| before.entries.clone());
            let resource = update.applied_to(before.unwrap_or_default());
            put(&mut self.resources, change, &name, &key, resource)
        } else if let Some(state) = event.storage_state {
            let key = state.resource.to_string();
            put(&mut self.states, change, &name, &key, state)
        } else if let Some(settings) = event.settings {
            self.write_grace_ms = Some(settings.write_grace_ms.0);
            Ok(())
        } else if let Some(migration) = event.migration {
            put(&mut self.migrations, change, &name, &name, migration)
        } else if let Some(roster) = event.roster {
            put(&mut self.rosters, change, &name, &name, roster)
        } else if event.collection.or(event.stored_object).is_some() {
            Ok(())
        } else {
            Err(format!("the event of {name:?} carries no object"))
        }
    }
}

impl ResourceChange {
    fn applied_to(self, mut entries: BTreeMap<String, Entry>) -> Resource {
        for member in &self.removed_members {
            entries.remove(member);
        }
        for entry in self.changed_entries {
            entries.insert(entry.member.clone(), entry);
        }
        Resource {
            metadata: self.metadata,
            resource: self.resource,
            entries,
            status: self.status,
        }
    }
}

impl From<Listed> for Resource {
    fn from(listed: Listed) -> Self {
        let entries = listed.entries.into_iter();
        Self {
            metadata: listed.metadata,
            resource: listed.resource,
            entries: entries.map(|entry| (entry.member.clone(), entry)).collect(),
            status: listed.status,
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.resource),
            group => write!(f, "{}.{group}", self.resource),
        }
    }
}

impl Migration {
    pub(super) const SUCCEEDED: &'static str = "MIGRATION_PHASE_SUCCEEDED";
    pub(super) const RUNNING: &'static str = "MIGRATION_PHASE_RUNNING";
    pub(super) const ABORTED: &'static str = "MIGRATION_PHASE_ABORTED";

    /// Whether the migration waits for a worker or runs.
    pub(super) fn is_open(&self) -> bool {
        matches!(
            self.phase.as_str(),
            "MIGRATION_PHASE_PENDING" | Self::RUNNING
        )
    }
}

impl Entry {
    pub(super) fn decodes(&self, version: &str) -> bool {
        self.decodable_versions.iter().any(|known| known == version)
    }
}

/// Adds, changes or removes an object. An added object must not have existed, any other must have.
fn put<T>(
    objects: &mut BTreeMap<String, T>,
    change: Change,
    name: &str,
    key: &str,
    object: T,
) -> Result<(), String> {
    let before = match change {
        Change::Added | Change::Modified => objects.insert(key.to_owned(), object),
        Change::Removed => objects.remove(key),
    };
    match (change, before.is_some()) {
        (Change::Added, false) | (Change::Modified | Change::Removed, true) => Ok(()),
        (Change::Added, true) => Err(format!(
            "{name:?} is added, and was there: an event is missing"
        )),
        (Change::Modified | Change::Removed, false) => Err(format!(
            "{name:?} is changed or removed, and was not there: an event is missing"
        )),
    }
}

/// A field of a document, deserialized.
pub(super) fn field<T: serde::de::DeserializeOwned>(
    document: &Value,
    name: &str,
) -> Result<T, String> {
    let value = document.get(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value).map_err(|error| format!("{name}: {error}"))
}
