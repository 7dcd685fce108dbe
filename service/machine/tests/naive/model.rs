//! The naive model: the rules of SEMANTICS, written as slowly and as plainly as possible.
//!
//! [`Replay::of`] reads the whole log from its first entry. Nothing is counted, indexed or kept up to date: everything
//! derived is computed again from all facts. The model shares no code with the machine; rows of the machine appear only
//! as plain values.

mod absences;
mod collections;
mod commands;
mod deletion;
mod discovery;
mod entries;
mod equivalents;
mod history;
mod late_writes;
mod looks;
mod migrations;
mod objects;
mod outcomes;
mod outside;
mod releases;
mod restore;
mod rosters;
mod status;
mod switches;
mod topics;
mod voting;

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{
    Answer, Command, Deadline, EntryRow, Heartbeat, Holder, LogEntry, MembershipRow, OutcomeRow,
    ProgressRow, ReplicaId, ReplicaRow, StateStatus, StorageStateRow, StorageVersionRow,
    VersionStatus,
};
use synod_model::{
    Absent, AgreementChange, ClusterId, Collection, Epoch, ErrorKind, GroupResource, LogTime,
    Member, MemberId, Metadata, Migration, MigrationId, Object, ObjectKey, Persisted, Refusal,
    ResourceScope, Revision, Roster, Sequence, SessionId, Settings, StatementNumber, WallTime,
};

use crate::picture::{NO_UID, Picture, Visible};

use history::UpgradeHistory;
pub(crate) use outcomes::Told;

/// The result of replaying a log.
pub(crate) struct Replay {
    pub(crate) world: World,
    /// The visible state at each revision, from zero.
    pub(crate) past: BTreeMap<Revision, Visible>,
    /// The answers to the commands of the last entry.
    pub(crate) told: Vec<Told>,
    pub(crate) upgrade: UpgradeHistory,
}

/// The present state.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    cluster: Option<ClusterId>,
    /// The machine version, unless it is the first.
    raised_to: Option<u32>,
    revision: Revision,
    log_time: LogTime,
    lifted_at: LogTime,
    strangers_write_until: LogTime,
    floor: Revision,
    settings: Settings,
    replicas: BTreeMap<ReplicaId, ReplicaRow>,
    members: Vec<Member>,
    memberships: BTreeMap<MemberId, MembershipRow>,
    /// The last statement of each member, with its epoch.
    said: BTreeMap<MemberId, (Epoch, StatementNumber, Command)>,
    deadlines: Vec<(Holder, Deadline)>,
    sessions: Vec<Session>,
    /// By resource and member.
    entries: Vec<Entry>,
    /// By first name.
    resources: Vec<Resource>,
    /// What follows from the entries under each name.
    versions: BTreeMap<GroupResource, (Metadata, VersionStatus)>,
    rosters: BTreeMap<ResourceScope, Roster>,
    collections: BTreeMap<GroupResource, Collection>,
    objects: BTreeMap<ObjectKey, Object>,
    /// How many objects and collections this command has made, and how many objects it has marked as being deleted.
    made: u32,
    marked: u32,
    /// The number of objects ever made: an object that is made and removed in one command is a change, too.
    touched: u64,
    /// By name.
    migrations: Vec<Migration>,
    progress: Vec<(MigrationId, ProgressRow)>,
    heartbeats: Vec<(GroupResource, Heartbeat)>,
    /// The wall clock of the present command, and what it has changed.
    wall: WallTime,
    begun_again: BTreeSet<GroupResource>,
    ended_now: BTreeSet<MigrationId>,
    /// Who reports or adopts in this command, the dates that it names, the topics that it is about, those that are looked at
    /// whether they changed or not, and those for which something was over.
    speaker: Option<MemberId>,
    dates: topics::Dates,
    named: BTreeSet<GroupResource>,
    looked_at: BTreeSet<GroupResource>,
    passed: BTreeSet<GroupResource>,
    /// The resources of which this command makes walks vain, and those of which the speaker was heard before.
    walked_in_vain: BTreeSet<GroupResource>,
    was_heard: BTreeSet<GroupResource>,
    /// The stores whose names change in this command.
    renamed: BTreeSet<GroupResource>,
}

#[derive(Clone, Debug, PartialEq)]
struct Session {
    id: SessionId,
    lowest: Sequence,
    outcomes: Vec<(Sequence, OutcomeRow)>,
}

/// One resource of one member.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    resource: GroupResource,
    member: MemberId,
    row: EntryRow,
}

/// What is known of a store.
#[derive(Clone, Debug, PartialEq)]
struct Resource {
    name: GroupResource,
    metadata: Metadata,
    status: StateStatus,
    agreements: Vec<AgreementChange>,
}

impl Replay {
    pub(crate) fn of(log: &[LogEntry]) -> Self {
        let mut replay = Self {
            world: World::default(),
            past: BTreeMap::from([(Revision::ZERO, Visible::default())]),
            told: Vec::new(),
            upgrade: UpgradeHistory::default(),
        };
        for entry in log {
            replay.take(entry);
        }
        replay
    }

    fn take(&mut self, entry: &LogEntry) {
        let world = &mut self.world;
        world.log_time = world.log_time.max(entry.log_time);
        if entry.lift_deadlines {
            world.lifted_at = world.log_time;
        }
        self.told.clear();
        for envelope in &entry.commands {
            let before = self.world.revision;
            let told = self.world.answer(envelope, entry.wall);
            self.told.push(told);
            if self.world.revision != before {
                let after = self.world.visible();
                let before = self.past.last_key_value();
                let (_, before) = before.expect("revision zero is kept");
                self.upgrade.add(&self.world, before, &after, entry.wall);
                self.past.insert(self.world.revision, after);
            }
        }
        let kept = self.world.settings.history_revisions;
        let oldest = self.world.revision.get().saturating_sub(kept);
        self.world.floor = self.world.floor.max(Revision::new(oldest));
        self.upgrade.trim(&self.world);
    }
}

impl World {
    /// Carries a command out unless a rule refuses it. The revision moves by one if anything visible changed, and by
    /// 2^40 if the command restores a backup.
    fn carry_out(&mut self, command: &Command, wall: WallTime) -> Result<(bool, Answer), Refusal> {
        if self.cluster.is_none() && !matches!(command, Command::Initialize(_)) {
            return Err(no(ErrorKind::Unavailable).with("not_executed", "true"));
        }
        let mut next = self.clone();
        next.revision = match command {
            Command::Restore(_) => Revision::new(self.revision.get() + (1 << 40)),
            _ => self.revision.next(),
        };
        (next.made, next.marked) = (0, 0);
        next.wall = wall;
        next.ended_now.clear();
        next.speaker = None;
        next.dates.clear();
        next.named.clear();
        next.passed.clear();
        next.was_heard.clear();
        next.renamed.clear();
        next.check_switches(command)?;
        let answer = next.perform(&next.with_first_name(command), wall)?;
        let completes = matches!(command, Command::CompleteMigration(_));
        next.follow(self, !completes, wall);
        next.walk_again();
        next.remember_encodings();
        next.drop_ended_drains(self);
        next.look_ahead(self);
        let changed = next.differs(self);
        if changed {
            next.stamp(self);
        } else {
            next.revision = self.revision;
        }
        *self = next;
        Ok((changed, answer))
    }

    /// Removes ended drains from storage states that change otherwise.
    fn drop_ended_drains(&mut self, before: &Self) {
        let now = self.log_time;
        for resource in &mut self.resources {
            let old = before.own(&resource.name);
            if old.is_none_or(|old| old.status != resource.status) {
                let status = &mut resource.status;
                status.drains.retain(|_, until| *until > now);
                status.hash_drains.retain(|_, until| *until > now);
                status.claim_drains.retain(|_, drain| drain.until > now);
                status.unknown_drain = status.unknown_drain.filter(|until| *until > now);
            }
        }
    }

    /// Whether anything but deadlines, kept outcomes and the numbers of statements differs.
    fn differs(&self, before: &Self) -> bool {
        let sessions = |world: &Self| -> Vec<SessionId> {
            world.sessions.iter().map(|session| session.id).collect()
        };
        self.cluster != before.cluster
            || self.raised_to != before.raised_to
            || self.settings != before.settings
            || self.replicas != before.replicas
            || self.members != before.members
            || sessions(self) != sessions(before)
            || self.entries != before.entries
            || self.resources != before.resources
            || self.versions != before.versions
            || self.rosters != before.rosters
            || self.collections != before.collections
            || self.objects != before.objects
            || self.touched != before.touched
            || self.migrations != before.migrations
    }

    /// Gives every changed object this revision.
    fn stamp(&mut self, before: &Self) {
        let revision = self.revision;
        if self.settings != before.settings || before.cluster.is_none() {
            self.settings.revision = revision;
        }
        for member in &mut self.members {
            if before.members.iter().all(|other| other != member) {
                member.metadata.resource_version = revision;
            }
        }
        for migration in &mut self.migrations {
            if before.migrations.iter().all(|other| other != migration) {
                migration.metadata.resource_version = revision;
            }
        }
        let now = self.clone();
        for resource in &mut self.resources {
            let old = before
                .resources
                .iter()
                .find(|old| old.name == resource.name);
            if old.is_none_or(|old| old.status != resource.status) {
                resource.metadata.resource_version = revision;
            }
        }
        for (name, version) in &mut self.versions {
            let same = before.versions.get(name) == Some(version)
                && before.entries_under(name) == now.entries_under(name);
            if !same {
                version.0.resource_version = revision;
            }
        }
    }

    fn new_metadata(&self, wall: WallTime) -> Metadata {
        Metadata {
            uid: NO_UID,
            resource_version: self.revision,
            create_revision: self.revision,
            generation: 1,
            created: wall,
        }
    }

    fn set_deadline(&mut self, holder: Holder, ttl: std::time::Duration) {
        let at = self.log_time.after(ttl);
        self.clear_deadline(&holder);
        self.deadlines.push((holder, Deadline { at, ttl }));
    }

    /// Renews a holder under the same token: an earlier promise stands if it is later. The last one may have been made just
    /// now, by the leader alone.
    fn prolong(&mut self, holder: Holder, ttl: std::time::Duration) {
        let promised = self.promised(&holder);
        self.set_deadline(holder.clone(), ttl);
        for (kept, deadline) in &mut self.deadlines {
            if *kept == holder {
                deadline.at = promised.map_or(deadline.at, |at| at.max(deadline.at));
            }
        }
    }

    fn clear_deadline(&mut self, holder: &Holder) {
        self.deadlines.retain(|(kept, _)| kept != holder);
    }

    /// The end of a deadline: as it was set, or as the last lift moved it.
    fn ends_at(&self, holder: &Holder) -> Option<LogTime> {
        let (_, deadline) = self.deadlines.iter().find(|(kept, _)| kept == holder)?;
        Some(deadline.at.max(self.lifted_at.after(deadline.ttl)))
    }

    /// The end of a deadline, if the leader has extended it just now.
    fn promised(&self, holder: &Holder) -> Option<LogTime> {
        let (_, deadline) = self.deadlines.iter().find(|(kept, _)| kept == holder)?;
        let extended = self.log_time.after(deadline.ttl);
        self.ends_at(holder).map(|ends_at| ends_at.max(extended))
    }

    /// Every holder that is past its deadline.
    pub(crate) fn ended(&self) -> Vec<Holder> {
        let holders = self.deadlines.iter().map(|(holder, _)| holder);
        let mut ended: Vec<Holder> = holders
            .filter(|holder| self.has_ended(holder))
            .cloned()
            .collect();
        ended.sort();
        ended
    }

    fn has_ended(&self, holder: &Holder) -> bool {
        self.ends_at(holder).is_some_and(|at| at <= self.log_time)
    }

    fn visible(&self) -> Visible {
        let mut visible = Visible {
            settings: self.settings.clone(),
            ..Visible::default()
        };
        for member in &self.members {
            visible.put_member(member);
        }
        for entry in &self.entries {
            let key = (entry.resource.clone(), entry.member.clone());
            visible.entries.insert(key, entry.row.clone());
        }
        for resource in &self.resources {
            let row = StorageStateRow {
                metadata: resource.metadata.clone(),
                status: resource.status.clone(),
            };
            visible.put_state(&resource.name, &row);
        }
        for (name, (metadata, status)) in self.versions.clone() {
            visible.put_version(&name, &StorageVersionRow { metadata, status });
        }
        for collection in self.collections.values() {
            visible.put_collection(collection);
        }
        for object in self.objects.values() {
            visible.put_object(object);
        }
        for migration in &self.migrations {
            visible.put_migration(migration);
        }
        for roster in self.rosters.values() {
            visible.put_roster(roster);
        }
        visible
    }

    pub(crate) fn picture(&self) -> Picture {
        let sessions = self.sessions.iter();
        let outcomes = sessions.clone().flat_map(|session| {
            let kept = session.outcomes.iter().cloned();
            kept.map(|(sequence, row)| ((session.id, sequence), row))
        });
        let agreements = self.resources.iter();
        let agreements = agreements.map(|kept| (kept.name.clone(), kept.agreements.clone()));
        Picture {
            revision: self.revision,
            log_time: self.log_time,
            lifted_at: self.lifted_at,
            cluster: self.cluster,
            strangers_write_until: self.strangers_write_until,
            floor: self.floor,
            machine_version: self.raised_to.unwrap_or(1),
            visible: self.visible(),
            replicas: self.replicas.clone(),
            memberships: self.memberships.clone(),
            statements: self.last_statements(),
            deadlines: self.deadlines.iter().cloned().collect(),
            outcomes: outcomes.collect(),
            sessions: sessions.map(|kept| (kept.id, kept.lowest)).collect(),
            progress: self.progress.iter().cloned().collect(),
            heartbeats: self.heartbeats.iter().cloned().collect(),
            agreements: agreements.filter(|(_, lines)| !lines.is_empty()).collect(),
            garbage: Vec::new(),
        }
    }
}

impl Resource {
    /// A resource without any knowledge.
    fn new(name: &GroupResource, metadata: Metadata) -> Self {
        Self {
            name: name.clone(),
            metadata,
            status: nothing_known(),
            agreements: Vec::new(),
        }
    }
}

/// The status of a resource of which nothing is known.
fn nothing_known() -> StateStatus {
    StateStatus {
        common: None,
        selected: None,
        selected_revision: Revision::ZERO,
        agreement_revision: Revision::ZERO,
        agreed: None,
        persisted: BTreeSet::from([Persisted::Unknown]),
        observation: None,
        contradicted: false,
        agreed_hash: None,
        absent: Absent::default(),
        on_trust: None,
        heard: BTreeSet::new(),
        drains: BTreeMap::new(),
        hash_drains: BTreeMap::new(),
        serve_until: None,
        claim_drains: BTreeMap::new(),
        unknown_drain: None,
        known_versions: BTreeMap::new(),
        known_hashes: BTreeMap::new(),
        concluded_before: None,
        said_stopped: BTreeMap::new(),
        ever_reported: false,
        ungated_gone: BTreeMap::new(),
        more_ungated_gone: false,
        short_absences: BTreeMap::new(),
        stored_outside: false,
        looks: BTreeMap::new(),
        unnamed_look: None,
        equivalents: BTreeSet::new(),
    }
}

/// A refusal of this kind, without a message.
fn no(kind: ErrorKind) -> Refusal {
    Refusal::new(kind, "")
}
