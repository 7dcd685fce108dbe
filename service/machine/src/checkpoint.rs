//! Writes the state as a sequence of rows, which is the content of a checkpoint, and rebuilds it from them.
//!
//! Derived maps are not written. Loading rebuilds the tallies, the index by member and the order of deadlines, and
//! compares the digest of the rebuilt state with the one in the header.

mod corrupt;
mod loading;
mod migrations;
mod statuses;

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::stored::Stored as _;
use synod_model::{
    GroupResource, LeaseKey, MemberId, PackedObject, SessionId, Ticket, Waiter,
    known_machine_version,
};

use self::corrupt::orphan;
pub use self::corrupt::{CorruptState, DamagedMemory};
use self::loading::no_header;
pub use self::loading::{HashedRow, Loading};
use self::migrations::migration_rows;
use self::statuses::check_status;
use crate::digest::{RowHash, RowSum};
use crate::objects::Held;
use crate::state::{Session, StorageState, StorageVersion};
use crate::tally::Tally;
use crate::{Change, Digest, EntryRow, RevisionEvents, Row, State, StatementRow};

impl State {
    /// Every row, the header first.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let settings = self
            .cluster
            .map(|_| Row::Settings(Arc::clone(&self.settings)));
        [self.header()]
            .into_iter()
            .chain(settings)
            .chain(
                self.replicas
                    .iter()
                    .map(|(id, row)| Row::Replica(*id, row.clone())),
            )
            .chain(self.left.iter().map(|id| Row::LeftReplica(*id)))
            .chain(self.member_rows())
            .chain(
                self.deadlines
                    .iter()
                    .map(|(holder, deadline)| Row::Deadline(holder.clone(), *deadline)),
            )
            .chain(
                self.sessions
                    .iter()
                    .flat_map(|(id, session)| session_rows(*id, session)),
            )
            .chain(
                self.storage_versions
                    .iter()
                    .flat_map(|(resource, version)| version_rows(resource, version)),
            )
            .chain(
                self.storage_states
                    .iter()
                    .flat_map(|(resource, state)| state_rows(resource, state)),
            )
            .chain(self.leases.to_rows())
            .chain(self.collections.values().flat_map(collection_rows))
            .chain(
                self.garbage
                    .iter()
                    .map(|(uid, garbage)| Row::Garbage(*uid, Arc::clone(garbage))),
            )
            .chain(self.migrations.values().flat_map(migration_rows))
            .chain(
                self.rosters
                    .values()
                    .map(|row| Row::Roster(Arc::clone(row))),
            )
            .chain(self.aftermaths.values().cloned().map(Row::Aftermath))
            .chain(
                self.controller_revisions
                    .map()
                    .values()
                    .map(|kept| Row::ControllerRevision(Arc::clone(&kept.row))),
            )
            .chain(
                self.history
                    .iter()
                    .map(|events| Row::Events(Arc::clone(events))),
            )
    }

    fn header(&self) -> Row {
        Row::Header {
            cluster: self.cluster,
            machine_version: self.machine_version,
            revision: self.revision,
            log_time: self.log_time,
            lifted_at: self.deadlines.lifted_at,
            history_floor: self.history.floor(),
            strangers_write_until: self.strangers_write_until,
            digest: self.digest(),
            upgrade_floor: self.lower_upgrade_floor(),
        }
    }

    fn member_rows(&self) -> impl Iterator<Item = Row> + '_ {
        let members = self.members.values();
        let members = members.map(|member| Row::Member(Arc::clone(member)));
        let said = self.statements.iter();
        let memberships = self.memberships.iter();
        let memberships = memberships.map(|(id, row)| Row::Membership(id.clone(), Arc::clone(row)));
        members
            .chain(said.map(|(id, row)| Row::Statement(id.clone(), *row)))
            .chain(memberships)
    }

    /// The state that has these rows.
    ///
    /// # Errors
    ///
    /// [`CorruptState`] if the rows contradict each other, have no header, need a machine version that this build does
    /// not know, or give another digest than the header says.
    pub fn from_rows(rows: impl IntoIterator<Item = Row>) -> Result<Self, CorruptState> {
        let mut rows = rows.into_iter().map(HashedRow::of);
        let header = rows.next().ok_or_else(no_header)?;
        let mut loading = Loading::begin(header)?;
        rows.try_for_each(|row| loading.load(row))?;
        loading.end()
    }

    fn load(&mut self, row: HashedRow) -> Result<(), CorruptState> {
        let HashedRow { row, hash } = row;
        let Some(hash) = hash else {
            return Err(CorruptState("it has two headers".to_owned()));
        };
        self.sum.add(hash);
        let fresh = match row {
            Row::Header { .. } => false,
            Row::Settings(settings) => {
                self.settings = settings;
                true
            }
            Row::Replica(id, row) => self.replicas.insert(id, row).is_none(),
            Row::LeftReplica(id) => self.left.insert(id).is_none(),
            Row::Member(member) => self.members.insert(member.id.clone(), member).is_none(),
            Row::Statement(id, row) => self.load_statement(id, row)?,
            Row::Deadline(holder, deadline) => self.deadlines.insert(holder, deadline).is_none(),
            Row::Session(id, lowest, owner) => {
                let outcomes = OrdMap::new();
                let session = Session {
                    lowest,
                    owner,
                    outcomes,
                };
                self.sessions.insert(id, session).is_none()
            }
            Row::Outcome(id, sequence, row) => {
                let session = self
                    .sessions
                    .get_mut(&id)
                    .ok_or_else(|| orphan("an outcome", "session", id))?;
                session.outcomes.insert(sequence, row).is_none()
            }
            Row::StorageVersion(resource, row) => {
                let version = StorageVersion {
                    row,
                    entries: OrdMap::new(),
                    tally: Arc::new(Tally::default()),
                };
                self.storage_versions.insert(resource, version).is_none()
            }
            Row::Entry(resource, member, row) => self.load_entry(resource, member, row)?,
            Row::StorageState(resource, row) => self.load_storage_state(resource, row),
            Row::Agreement(resource, line) => self.load_agreement(&resource, line)?,
            Row::Collection(row) => self.insert_collection(row).is_none(),
            Row::Object(object) => self.load_object(object)?,
            Row::Garbage(uid, garbage) => self.garbage.insert(uid, garbage).is_none(),
            Row::ControllerRevision(row) => self.controller_revisions.insert(row).is_none(),
            Row::Lease(lease) => self.leases.insert(lease).is_none(),
            Row::LeaseWaiter(key, ticket, waiter) => self.load_waiter(&key, ticket, waiter)?,
            Row::LeaseCandidate(candidate) => self.leases.insert_candidate(candidate).is_none(),
            Row::Heartbeat(resource, heartbeat) => self.load_heartbeat(&resource, heartbeat)?,
            Row::Migration(row) => self.load_migration(row),
            Row::Roster(row) => self.rosters.insert(row.scope.clone(), row).is_none(),
            Row::Aftermath(row) => self.aftermaths.insert(row.feature(), row).is_none(),
            Row::Membership(id, row) => self.memberships.insert(id, row).is_none(),
            Row::MigrationProgress(id, progress) => self.load_progress(&id, progress)?,
            Row::Events(events) => self.load_events(events, hash)?,
        };
        if fresh {
            Ok(())
        } else {
            Err(CorruptState("it holds two rows of one key".to_owned()))
        }
    }

    fn load_entry(
        &mut self,
        resource: GroupResource,
        member: MemberId,
        row: Arc<EntryRow>,
    ) -> Result<bool, CorruptState> {
        let version = self.storage_versions.get_mut(&resource);
        let version = version.ok_or_else(|| orphan("an entry", "storage version", &resource))?;
        Arc::make_mut(&mut version.tally).add(&row);
        self.reported
            .entry(member.clone())
            .or_default()
            .insert(resource);
        Ok(version.entries.insert(member, row).is_none())
    }

    fn load_statement(&mut self, id: MemberId, row: StatementRow) -> Result<bool, CorruptState> {
        if !self.members.contains_key(&id) {
            return Err(orphan("a statement", "member", &id));
        }
        Ok(self.statements.insert(id, row).is_none())
    }

    fn load_waiter(
        &mut self,
        key: &LeaseKey,
        ticket: Ticket,
        waiter: Arc<Waiter>,
    ) -> Result<bool, CorruptState> {
        if !self.leases.rows.contains_key(key) {
            return Err(orphan("a waiter", "lease", key));
        }
        Ok(self.leases.insert_waiter(key, ticket, waiter).is_none())
    }

    fn load_object(&mut self, object: PackedObject) -> Result<bool, CorruptState> {
        let resource = &object.alike().resource;
        if !self.collections.contains_key(resource) {
            return Err(orphan("an object", "collection", resource));
        }
        Ok(self.insert_object(object).is_none())
    }

    fn load_events(
        &mut self,
        mut events: Arc<RevisionEvents>,
        hash: RowHash,
    ) -> Result<bool, CorruptState> {
        let is_older = events.revision <= self.history.floor();
        if is_older && !self.history.takes_older(&events) {
            return Err(CorruptState(format!(
                "revision {} is not the next one of its upgrade history",
                events.revision
            )));
        }
        if !is_older && !self.history.takes(events.revision) {
            return Err(CorruptState(format!(
                "its history has a gap before revision {}",
                events.revision
            )));
        }
        if !events.changes.iter().all(Change::is_of_one_kind) {
            return Err(CorruptState(format!(
                "revision {} has a change that does not fit its kind of object",
                events.revision
            )));
        }
        if let Some(caller) = Arc::get_mut(&mut events).and_then(|it| it.caller.as_mut()) {
            *caller = self.history.interned(caller);
        }
        if is_older {
            self.history.push_older(events, hash);
        } else {
            self.history.push(events, hash);
        }
        Ok(true)
    }

    fn check_loaded(&self, digest: Digest) -> Result<(), CorruptState> {
        if !self.history.takes(self.revision.next()) {
            return Err(CorruptState(format!(
                "its history does not end at revision {}",
                self.revision
            )));
        }
        if let Some((resource, _)) = self
            .storage_versions
            .iter()
            .find(|(_, version)| version.tally.is_empty())
        {
            return Err(CorruptState(format!(
                "storage version \"{resource}\" has no entry"
            )));
        }
        if let Some(id) = self
            .reported
            .keys()
            .find(|id| !self.members.contains_key(*id))
        {
            return Err(orphan("an entry", "member", id));
        }
        let found = self.digest();
        if found != digest {
            return Err(CorruptState(format!(
                "its digest is {found}, and its header says {digest}"
            )));
        }
        let mut versions = self.storage_versions.iter();
        versions.try_for_each(|(resource, version)| check_status(resource, version))
    }

    /// Checks that the digest computed from every row is the one that was kept: a state that was damaged in memory must not
    /// be written anywhere.
    ///
    /// # Errors
    ///
    /// [`DamagedMemory`], if they differ.
    pub fn check_memory(&self) -> Result<(), DamagedMemory> {
        let (kept, computed) = (self.digest(), self.recompute_digest());
        if kept == computed {
            return Ok(());
        }
        Err(DamagedMemory { kept, computed })
    }

    /// The digest computed from every row instead of from the kept sum. Costs one step for each row.
    #[must_use]
    pub fn recompute_digest(&self) -> Digest {
        let mut sum = RowSum::default();
        self.rows()
            .filter_map(|row| row.hash())
            .for_each(|hash| sum.add(hash));
        self.digest_with(&sum)
    }
}

impl Row {
    /// Refuses the header of a state that a newer build has written. Whoever reads rows one by one asks before it reads the
    /// next: rows of a newer machine version may not be readable at all.
    ///
    /// # Errors
    ///
    /// [`CorruptState`], which says to run the newer release.
    pub fn check_machine_version(&self) -> Result<(), CorruptState> {
        let known = known_machine_version();
        if let Self::Header {
            machine_version, ..
        } = self
            && *machine_version > known
        {
            return Err(CorruptState(format!(
                "it was written under machine version {machine_version}, and this build knows {known}: run the newer \
                 release"
            )));
        }
        Ok(())
    }

    /// The hash of the row in the digest; `None` for the header, which is not part of the digest.
    fn hash(&self) -> Option<RowHash> {
        let is_part = !matches!(self, Self::Header { .. });
        is_part.then(|| RowHash::of(|to| self.store(to)))
    }
}

fn session_rows(id: SessionId, session: &Session) -> impl Iterator<Item = Row> + '_ {
    let outcomes = session
        .outcomes
        .iter()
        .map(move |(sequence, row)| Row::Outcome(id, *sequence, Arc::clone(row)));
    std::iter::once(Row::Session(id, session.lowest, session.owner.clone())).chain(outcomes)
}

fn version_rows<'a>(
    resource: &'a GroupResource,
    version: &'a StorageVersion,
) -> impl Iterator<Item = Row> + 'a {
    let entries = version.entries.iter();
    let entries =
        entries.map(|(member, row)| Row::Entry(resource.clone(), member.clone(), Arc::clone(row)));
    std::iter::once(Row::StorageVersion(
        resource.clone(),
        Arc::clone(&version.row),
    ))
    .chain(entries)
}

fn state_rows<'a>(
    resource: &'a GroupResource,
    state: &'a StorageState,
) -> impl Iterator<Item = Row> + 'a {
    let agreements = state.agreements.iter();
    let agreements = agreements.map(|line| Row::Agreement(resource.clone(), Arc::clone(line)));
    let heartbeat = state.heartbeat;
    let heartbeat = heartbeat.map(|heartbeat| Row::Heartbeat(resource.clone(), heartbeat));
    std::iter::once(Row::StorageState(resource.clone(), Arc::clone(&state.row)))
        .chain(agreements)
        .chain(heartbeat)
}

fn collection_rows(held: &Held) -> impl Iterator<Item = Row> + '_ {
    let objects = held.objects();
    let objects = objects.map(|object| Row::Object(object.clone()));
    std::iter::once(Row::Collection(Arc::clone(&held.row))).chain(objects)
}
