//! Two states as plain maps, for comparison.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use synod_machine::{
    Deadline, EntryRow, Garbage, Heartbeat, Holder, MembershipRow, OutcomeRow, Past, ProgressRow,
    ReplicaId, ReplicaRow, Row, State, StorageStateRow, StorageVersionRow,
};
use synod_model::{
    AgreementChange, ClusterId, Collection, Current, ErrorKind, GroupResource, LabelSelector,
    LogTime, Member, MemberId, Metadata, Migration, MigrationId, Object, ObjectKey, Refusal,
    ResourceScope, Revision, Roster, Sequence, SessionId, Settings, StatementNumber, Uid,
};

/// A whole state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Picture {
    pub(crate) revision: Revision,
    pub(crate) log_time: LogTime,
    pub(crate) lifted_at: LogTime,
    pub(crate) cluster: Option<ClusterId>,
    pub(crate) strangers_write_until: LogTime,
    pub(crate) floor: Revision,
    pub(crate) machine_version: u32,
    pub(crate) visible: Visible,
    pub(crate) replicas: BTreeMap<ReplicaId, ReplicaRow>,
    pub(crate) memberships: BTreeMap<MemberId, MembershipRow>,
    pub(crate) statements: BTreeMap<MemberId, StatementNumber>,
    pub(crate) deadlines: BTreeMap<Holder, Deadline>,
    pub(crate) sessions: BTreeMap<SessionId, Sequence>,
    pub(crate) outcomes: BTreeMap<(SessionId, Sequence), OutcomeRow>,
    pub(crate) agreements: BTreeMap<GroupResource, Vec<AgreementChange>>,
    pub(crate) garbage: Vec<Garbage>,
    pub(crate) progress: BTreeMap<MigrationId, ProgressRow>,
    pub(crate) heartbeats: BTreeMap<GroupResource, Heartbeat>,
}

/// The part that can be read at a past revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Visible {
    pub(crate) members: BTreeMap<MemberId, Member>,
    pub(crate) versions: BTreeMap<GroupResource, StorageVersionRow>,
    pub(crate) entries: BTreeMap<(GroupResource, MemberId), EntryRow>,
    pub(crate) states: BTreeMap<GroupResource, StorageStateRow>,
    pub(crate) migrations: BTreeMap<MigrationId, Migration>,
    pub(crate) settings: Settings,
    pub(crate) collections: BTreeMap<GroupResource, Collection>,
    pub(crate) objects: BTreeMap<ObjectKey, Object>,
    pub(crate) rosters: BTreeMap<ResourceScope, Roster>,
}

impl Picture {
    pub(crate) fn of(state: &State) -> Self {
        let mut picture = Self {
            visible: Visible::at(&state.present()),
            ..Self::default()
        };
        for row in state.rows() {
            picture.add(row);
        }
        for outcome in picture.outcomes.values_mut() {
            if let Err(refusal) = &mut outcome.result {
                *refusal = plain(refusal);
            }
        }
        picture
    }

    fn add(&mut self, row: Row) {
        match row {
            Row::Header {
                cluster,
                strangers_write_until,
                machine_version,
                revision,
                log_time,
                lifted_at,
                history_floor,
                ..
            } => {
                self.cluster = cluster;
                self.strangers_write_until = strangers_write_until;
                self.machine_version = machine_version;
                self.revision = revision;
                self.log_time = log_time;
                self.lifted_at = lifted_at;
                self.floor = history_floor;
            }
            Row::LeftReplica(id) => {
                panic!("replica {id} has left, and none of these logs changes the set")
            }
            Row::Replica(id, row) => drop(self.replicas.insert(id, row)),
            Row::Membership(id, row) => drop(self.memberships.insert(id, (*row).clone())),
            Row::Statement(id, said) => drop(self.statements.insert(id, said.number)),
            Row::Deadline(holder, deadline) => {
                self.deadlines.insert(holder, deadline);
            }
            Row::Session(id, lowest, _) => {
                self.sessions.insert(id, lowest);
            }
            Row::Outcome(id, sequence, row) => {
                self.outcomes.insert((id, sequence), (*row).clone());
            }
            Row::Agreement(resource, line) => {
                let lines = self.agreements.entry(resource).or_default();
                lines.push((*line).clone());
            }
            Row::Aftermath(row) => {
                panic!("{row:?} is left, and these logs have too little for that")
            }
            Row::Garbage(_, garbage) => self.garbage.push((*garbage).clone()),
            Row::MigrationProgress(id, row) => {
                self.progress.insert(id, (*row).clone());
            }
            Row::Heartbeat(resource, heartbeat) => {
                self.heartbeats.insert(resource, heartbeat);
            }
            Row::Settings(_)
            | Row::Collection(_)
            | Row::Object(_)
            | Row::Migration(_)
            | Row::Member(_)
            | Row::StorageVersion(..)
            | Row::Entry(..)
            | Row::StorageState(..)
            | Row::ControllerRevision(_)
            | Row::Lease(_)
            | Row::LeaseWaiter(..)
            | Row::LeaseCandidate(_)
            | Row::Roster(_)
            | Row::Events(_) => {}
        }
    }
}

impl Visible {
    /// What a reader sees at a revision, without uids, which are compared separately.
    pub(crate) fn at(past: &Past<'_>) -> Self {
        let mut visible = Self::upgrade_at(past);
        for collection in past.collections(None) {
            let all = LabelSelector::default();
            for object in past.objects(&collection.resource, None, &all, None) {
                visible.put_object(&object);
            }
            visible.put_collection(&collection);
        }
        visible
    }

    /// The part whose history has a floor of its own.
    pub(crate) fn upgrade_part(&self) -> Self {
        Self {
            collections: BTreeMap::new(),
            objects: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// That part, as a reader sees it at a revision.
    pub(crate) fn upgrade_at(past: &Past<'_>) -> Self {
        let mut visible = Self {
            settings: (*past.settings()).clone(),
            ..Self::default()
        };
        for member in past.members(None) {
            visible.put_member(&member);
        }
        for version in past.storage_versions(None) {
            for (member, row) in version.entries() {
                let key = (version.resource.clone(), member.clone());
                visible.entries.insert(key, (**row).clone());
            }
            visible.put_version(&version.resource, &version.row);
        }
        for state in past.storage_states(None) {
            visible.put_state(&state.resource, &state.row);
        }
        for migration in past.migrations(None) {
            visible.put_migration(&migration);
        }
        for roster in past.rosters(None) {
            visible.put_roster(&roster);
        }
        visible
    }

    pub(crate) fn put_member(&mut self, member: &Member) {
        let mut member = member.clone();
        blank(&mut member.metadata);
        self.members.insert(member.id.clone(), member);
    }

    pub(crate) fn put_version(&mut self, resource: &GroupResource, row: &StorageVersionRow) {
        let mut row = row.clone();
        blank(&mut row.metadata);
        self.versions.insert(resource.clone(), row);
    }

    pub(crate) fn put_collection(&mut self, row: &Collection) {
        let mut row = row.clone();
        blank(&mut row.metadata);
        self.collections.insert(row.resource.clone(), row);
    }

    pub(crate) fn put_object(&mut self, object: &Object) {
        let mut object = object.clone();
        blank(&mut object.metadata);
        self.objects.insert(object.key.clone(), object);
    }

    pub(crate) fn put_state(&mut self, resource: &GroupResource, row: &StorageStateRow) {
        let mut row = row.clone();
        blank(&mut row.metadata);
        self.states.insert(resource.clone(), row);
    }

    pub(crate) fn put_roster(&mut self, roster: &Roster) {
        let mut roster = roster.clone();
        blank(&mut roster.metadata);
        self.rosters.insert(roster.scope.clone(), roster);
    }

    pub(crate) fn put_migration(&mut self, migration: &Migration) {
        let mut migration = migration.clone();
        blank(&mut migration.metadata);
        self.migrations.insert(migration.id.clone(), migration);
    }
}

/// The rule of a refusal and its details, without the message.
pub(crate) fn plain(refusal: &Refusal) -> Refusal {
    let facts: &[&str] = match refusal.kind {
        ErrorKind::NotDecodable => &["resource", "version"],
        ErrorKind::Unavailable => &["not_executed"],
        ErrorKind::SwitchedOff => &["setting"],
        ErrorKind::Draining => &["retry_after_ms"],
        ErrorKind::Conflict => &["number", "last_number"],
        _ => &[],
    };
    let mut plain = refusal.clone();
    plain.message.clear();
    plain.violations.clear();
    if let Some(Current::Roster(roster)) = plain.current.as_deref_mut() {
        blank(&mut Arc::make_mut(roster).metadata);
    }
    plain
        .metadata
        .retain(|key, _| facts.contains(&key.as_str()));
    plain
}

pub(crate) const NO_UID: Uid = Uid::from_bytes([0; 16]);

fn blank(metadata: &mut Metadata) {
    metadata.uid = NO_UID;
}

/// Fails with the lines from the first to the last difference, instead of both values as a whole.
pub(crate) fn assert_same<T: Debug + PartialEq>(what: &str, expected: &T, found: &T) {
    if expected == found {
        return;
    }
    let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
    let mut expected: Vec<&str> = expected.lines().collect();
    let mut found: Vec<&str> = found.lines().collect();
    while !expected.is_empty() && expected.last() == found.last() {
        expected.pop();
        found.pop();
    }
    let same = expected.iter().zip(&found).take_while(|(a, b)| a == b);
    let same = same.count();
    panic!(
        "{what}, after:\n{}\nexpected:\n{}\nfound:\n{}",
        expected[same.saturating_sub(30)..same].join("\n"),
        expected[same..].join("\n"),
        found[same..].join("\n")
    );
}
