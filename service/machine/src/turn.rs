//! A command's turn: the only methods by which a command changes the state.
//!
//! A command first decides, reading the state; then it changes rows through the methods here, which keep the digest,
//! the derived indexes and the events in step. A command that refuses returns before its first change, so a refused
//! command leaves nothing behind.

mod controller_revisions;
mod deadlines;
mod invariants;
mod migrations;
mod objects;
mod restore;
mod rosters;
mod statements;
mod storage_states;

use std::sync::Arc;
use std::time::Duration;

use imbl::OrdMap;
use synod_model::{
    AbortCause, Actor, ClusterId, Feature, GroupResource, Identity, LogTime, Member, MemberId,
    Metadata, Revision, SessionId, Settings, Uid, WallTime,
};

use crate::controller_revisions::MarkPost;
use crate::digest::RowHash;
use crate::hashes::{Hashed, deadline_hash, entry_hash, events_hash, replica_hash, session_hash};
use crate::leases::Leases;
use crate::memberships::Memberships;
use crate::state::{Session, StorageVersion};
use crate::voting::{Decided, DecidedVersion, Reported};
use crate::{
    Aftermath, Change, Deadline, EntryChange, Holder, ReplicaId, ReplicaRow, RevisionEvents, State,
    StorageVersionRow,
};

pub(crate) use storage_states::Then;

pub(crate) struct Turn<'a> {
    state: &'a mut State,
    /// The revision that this command makes if it changes something.
    revision: Revision,
    wall: WallTime,
    /// Who sends the command, if that was proved.
    actor: Option<&'a Actor>,
    /// Whether the command makes a revision: see [`Self::moves`].
    moved: bool,
    /// Whether this command empties the history.
    restores: bool,
    uids: u32,
    /// The number of objects that were marked as being deleted.
    deletions: u32,
    /// Whether earlier commands have left dependents to process.
    backlog: bool,
    changes: Vec<Change>,
}

impl<'a> Turn<'a> {
    pub(crate) fn begin(state: &'a mut State, wall: WallTime) -> Self {
        let revision = state.revision.next();
        let backlog = state.has_garbage();
        Self {
            state,
            revision,
            wall,
            actor: None,
            moved: false,
            restores: false,
            uids: 0,
            deletions: 0,
            backlog,
            changes: Vec::new(),
        }
    }

    /// The turn of a command that this caller sends.
    pub(crate) fn by(self, actor: Option<&'a Actor>) -> Self {
        Self { actor, ..self }
    }

    pub(crate) fn actor(&self) -> Option<&Actor> {
        self.actor
    }

    /// The identity of the caller, if it is kept with the revision.
    pub(crate) fn kept_caller(&self) -> Option<Identity> {
        let actor = self.actor.filter(|_| self.state.keeps_upgrade_history())?;
        Some(self.state.history.interned(&actor.identity))
    }

    pub(crate) fn state(&self) -> &State {
        self.state
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn wall(&self) -> WallTime {
        self.wall
    }

    pub(crate) fn log_time(&self) -> LogTime {
        self.state.log_time
    }

    /// The leases, to be changed. The methods in `leases/changes.rs`, which use this, update the sum themselves.
    pub(crate) fn leases(&mut self) -> &mut Leases {
        &mut self.state.leases
    }

    /// The memory of memberships, to be changed. The methods in `absences.rs`, which use this, update the sum
    /// themselves.
    pub(crate) fn memberships(&mut self) -> &mut Memberships {
        &mut self.state.memberships
    }

    /// What has to follow from switches, to be changed. The methods in `aftermath.rs`, which use this, update the sum
    /// themselves.
    pub(crate) fn aftermaths(&mut self) -> &mut OrdMap<Feature, Aftermath> {
        &mut self.state.aftermaths
    }

    /// Records that readers can see a change, or that something takes its number from the revision.
    pub(crate) fn moves(&mut self) {
        self.moved = true;
    }

    /// Adds a row to the sum.
    pub(crate) fn add(&mut self, row: RowHash) {
        self.state.sum.add(row);
    }

    /// Subtracts a row from the sum.
    pub(crate) fn subtract(&mut self, row: RowHash) {
        self.state.sum.subtract(row);
    }

    /// Records the change of an object: in the sum, and as an event.
    pub(crate) fn record<R: Hashed>(
        &mut self,
        key: R::Key,
        before: Option<R::Kept>,
        after: Option<R::Kept>,
    ) -> &mut Change {
        self.moved = true;
        if let Some(before) = &before {
            self.state.sum.subtract(R::hash(before, &key));
        }
        if let Some(after) = &after {
            self.state.sum.add(R::hash(after, &key));
        }
        self.changes.push_mut(Change::new::<R>(key, before, after))
    }

    /// Ends the turn. If something changed, the revision moves and the history gains it; a restore empties it instead.
    pub(crate) fn end(self) -> Option<Arc<RevisionEvents>> {
        if !self.moved {
            assert!(self.changes.is_empty(), "an event belongs to a revision");
            return None;
        }
        let time = self.state.keeps_upgrade_history().then_some(self.wall);
        let caller = self.kept_caller();
        let history = &self.state.history;
        let events = Arc::new(RevisionEvents {
            revision: self.revision,
            changes: objects::one_for_each(self.changes),
            time,
            latest_time: time.and_then(|time| history.time_after(time)),
            caller,
        });
        self.state.revision = self.revision;
        if self.restores {
            self.state.forget_history();
        } else {
            let hash = events_hash(&events);
            self.state.sum.add(hash);
            self.state.history.push(Arc::clone(&events), hash);
        }
        Some(events)
    }

    /// The metadata of an object that this command creates.
    pub(crate) fn new_metadata(&mut self) -> Metadata {
        let cluster = self
            .state
            .cluster
            .expect("objects are made in a cluster that is initialized");
        let uid = Uid::derive(&cluster, self.revision, self.uids);
        self.uids += 1;
        Metadata {
            uid,
            resource_version: self.revision,
            create_revision: self.revision,
            generation: 1,
            created: self.wall,
        }
    }

    /// The metadata of an object that this command changes, or creates if there was none.
    pub(crate) fn metadata(&mut self, before: Option<&Metadata>) -> Metadata {
        match before {
            Some(metadata) => Metadata {
                resource_version: self.revision,
                ..metadata.clone()
            },
            None => self.new_metadata(),
        }
    }

    pub(crate) fn initialize(&mut self, cluster: ClusterId, settings: Settings) {
        self.state.cluster = Some(cluster);
        let after = Arc::new(Settings {
            revision: self.revision,
            ..settings
        });
        // The settings of a state without a cluster are not part of the sum, so there is nothing to subtract.
        self.state.settings = Arc::clone(&after);
        self.record::<Settings>((), None, Some(after));
    }

    pub(crate) fn raise_machine_version(&mut self, to: u32) {
        self.moved = true;
        self.state.machine_version = to;
    }

    pub(crate) fn put_settings(&mut self, settings: Settings) {
        let after = Arc::new(Settings {
            revision: self.revision,
            ..settings
        });
        let before = std::mem::replace(&mut self.state.settings, Arc::clone(&after));
        self.record::<Settings>((), Some(before), Some(after));
    }

    pub(crate) fn put_replica(&mut self, id: ReplicaId, row: ReplicaRow) {
        self.moved = true;
        self.state.sum.add(replica_hash(id, &row));
        if let Some(before) = self.state.replicas.insert(id, row) {
            self.state.sum.subtract(replica_hash(id, &before));
        }
    }

    pub(crate) fn remove_replica(&mut self, id: ReplicaId) {
        self.moved = true;
        if let Some(before) = self.state.replicas.remove(&id) {
            self.state.sum.subtract(replica_hash(id, &before));
        }
    }

    pub(crate) fn put_member(&mut self, member: Member) {
        let id = member.id.clone();
        let after = Arc::new(member);
        let before = self.state.members.insert(id.clone(), Arc::clone(&after));
        let is_replaced = before.as_ref().is_some_and(|it| it.epoch != after.epoch);
        self.record::<Member>(id.clone(), before, Some(after));
        if is_replaced {
            self.end_marks(&MarkPost::Member(id));
        }
    }

    /// Removes the member, its deadlines, its last statement and the marks that are tied to it. The caller removes its
    /// entries.
    pub(crate) fn remove_member(&mut self, id: &MemberId) {
        let before = self.state.members.remove(id);
        let before = before.expect("the command found the member");
        self.clear_deadline(&Holder::Member(id.clone()));
        self.clear_deadline(&Holder::Unreported(id.clone()));
        self.forget_statements(id);
        self.record::<Member>(id.clone(), Some(before), None);
        self.end_marks(&MarkPost::Member(id.clone()));
    }

    /// Sets a deadline `ttl` after this entry's log time, for a new holder. Moves no revision.
    pub(crate) fn set_deadline(&mut self, holder: Holder, ttl: Duration) {
        let at = self.state.log_time.after(ttl);
        self.put_deadline(holder, Deadline { at, ttl });
    }

    fn put_deadline(&mut self, holder: Holder, deadline: Deadline) {
        self.state.sum.add(deadline_hash(&holder, &deadline));
        if let Some(before) = self.state.deadlines.insert(holder.clone(), deadline) {
            self.state.sum.subtract(deadline_hash(&holder, &before));
        }
    }

    pub(crate) fn clear_deadline(&mut self, holder: &Holder) {
        if let Some(before) = self.state.deadlines.remove(holder) {
            self.state.sum.subtract(deadline_hash(holder, &before));
        }
    }

    pub(crate) fn put_session(&mut self, id: SessionId, session: Session) {
        self.moved = true;
        self.state
            .sum
            .add(session_hash(id, session.lowest, &session.owner));
        let before = self.state.sessions.insert(id, session);
        assert!(
            before.is_none(),
            "a session's id is a revision, so it is new"
        );
    }

    /// Removes the session, its outcomes and its deadline.
    pub(crate) fn remove_session(&mut self, id: SessionId) {
        self.moved = true;
        self.state.remove_session(id);
        self.clear_deadline(&Holder::Session(id));
    }

    /// Carries out what the voting rule decided for one resource.
    pub(crate) fn carry_out(&mut self, decided: Decided) {
        self.carry_out_and(decided, Then::Migrate);
    }

    /// Carries out the decision, and lets the rule of migrations follow as far as `then` says.
    pub(crate) fn carry_out_and(&mut self, decided: Decided, then: Then) {
        let Decided {
            resource,
            versions,
            is_reported: _,
            state,
            agreement,
            restarts_walks,
            aborts,
        } = decided;
        if aborts {
            self.abort_unfinished(&resource, AbortCause::StorageUnknown);
        }
        for version in versions {
            self.put_storage_version(version);
        }
        if let Some(mut status) = state {
            if let Some(kept) = self.state.state_of(&resource) {
                status.keep_late_writes_of(&kept.row.status);
            }
            self.put_storage_state_and(&resource, status, agreement, then);
        }
        if restarts_walks {
            self.restart_walks(&resource);
        }
        if aborts && then == Then::Migrate {
            self.migrate(&resource);
        }
        self.state.assert_resource_invariants(&resource);
    }

    fn put_storage_version(&mut self, decided: DecidedVersion) {
        let DecidedVersion {
            name,
            entries,
            after,
        } = decided;
        let resource = &name;
        let present = self.state.storage_versions.get(resource);
        let before = present.map(|version| Arc::clone(&version.row));
        for change in &entries {
            self.state.index_entry(resource, change);
        }
        let row = match after {
            None => {
                self.state.storage_versions.remove(resource);
                None
            }
            Some(Reported {
                entries,
                tally,
                status,
            }) => {
                let row = Arc::new(StorageVersionRow {
                    metadata: self.metadata(before.as_ref().map(|row| &row.metadata)),
                    status,
                });
                let version = StorageVersion {
                    row: Arc::clone(&row),
                    entries,
                    tally: Arc::new(tally),
                };
                self.state
                    .storage_versions
                    .insert(resource.clone(), version);
                Some(row)
            }
        };
        self.record::<StorageVersionRow>(name, before, row).entries = entries;
    }
}

impl State {
    /// Updates the sum and the index by member for one changed entry.
    fn index_entry(&mut self, resource: &GroupResource, change: &EntryChange) {
        if let Some(row) = &change.before {
            self.sum.subtract(entry_hash(resource, &change.member, row));
        }
        if let Some(row) = &change.after {
            self.sum.add(entry_hash(resource, &change.member, row));
        }
        match (&change.before, &change.after) {
            (None, Some(_)) => {
                self.reported
                    .entry(change.member.clone())
                    .or_default()
                    .insert(resource.clone());
            }
            (Some(_), None) => {
                let resources = self
                    .reported
                    .get_mut(&change.member)
                    .expect("a kept entry is in the index");
                resources.remove(resource);
                if resources.is_empty() {
                    self.reported.remove(&change.member);
                }
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}
