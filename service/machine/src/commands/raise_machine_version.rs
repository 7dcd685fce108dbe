//! `RaiseMachineVersion`: puts a new behaviour of apply in force at the same log index on every replica.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{
    AbortCause, ApiVersion, EVIDENCE_SINCE, ErrorKind, GroupResource, Migration, MigrationPhase,
    Persisted, Refusal, Revision, TOPICS_SINCE, Ttl, known_machine_version,
};

use super::reset_storage_states::doubt;
use crate::turn::{Then, Turn};
use crate::{
    Answer, Command, LogEntry, MACHINE_VERSION_MIN, RaiseMachineVersion, ReplicaId, State,
};

/// # Panics
///
/// If this build does not know the version: a replica stops rather than apply what it does not know.
pub(crate) fn apply(turn: &mut Turn<'_>, raise: &RaiseMachineVersion) -> Result<Answer, Refusal> {
    let state = turn.state();
    if raise.to <= state.machine_version {
        return Ok(Answer::Done);
    }
    let able = able(state, raise);
    if able < raise.replicas.len() || raise.replicas.is_empty() {
        return Err(Refusal::new(
            ErrorKind::InvalidArgument,
            format!(
                "machine version {}: {able} of {} replicas have announced that they know it: upgrade the others first",
                raise.to,
                raise.replicas.len()
            ),
        ));
    }
    let known = known_machine_version();
    assert!(
        raise.to <= known,
        "this build knows machine version {known} and the log goes on with {}: run the newer release",
        raise.to
    );
    let before = state.machine_version;
    turn.raise_machine_version(raise.to);
    let begins = |since| before < since && since <= raise.to;
    let ended = match begins(EVIDENCE_SINCE) {
        true => begin_evidence(turn, before),
        false => Vec::new(),
    };
    if begins(TOPICS_SINCE) {
        begin_topics(turn);
    }
    for resource in &ended {
        turn.migrate_unless_called_off(resource);
    }
    Ok(Answer::Done)
}

/// Doubts what was agreed on of topics by the rules of encodings, and has the leader decide about each by those of its kind.
///
/// Until now a member that lacks a key was let in, a collection was believed to know what is encrypted, and a migration
/// rewrote what it knew to be in another version. So everything is rewritten once. An object changes once in a command:
/// what is selected is decided in the next one.
fn begin_topics(turn: &mut Turn<'_>) {
    let state = turn.state();
    let known = state.storage_states.keys();
    let topics = known.filter(|resource| !state.topic_kind(resource).is_seen_in_stores());
    let topics: Vec<GroupResource> = topics.cloned().collect();
    for topic in &topics {
        doubt(turn, topic);
        turn.look_at_once(topic);
    }
}

/// Marks what was concluded of each resource until now, when nobody counted what workers may write after their claims have
/// ended: whatever they still write drains first, for as long as the longest claim. Returns the resources whose
/// migrations end by that.
fn begin_evidence(turn: &mut Turn<'_>, before: u32) -> Vec<GroupResource> {
    let state = turn.state();
    let grace = state.settings.write_grace;
    let until = turn.log_time().after(Ttl::MAX.duration()).after(grace);
    let known = state.storage_states.keys();
    let stored = known.filter(|resource| state.topic_kind(resource).is_stored());
    let resources: Vec<GroupResource> = stored.cloned().collect();
    let mut ended = Vec::new();
    for resource in &resources {
        let was_claimed = may_have_been_claimed(turn.state(), resource, before);
        let known = known_before(turn.state(), resource);
        let is_seen = turn.state().topic_kind(resource).is_seen_in_stores();
        let status = turn.state().status(resource);
        let was_told = status.agreement_revision != Revision::ZERO || !known.is_empty();
        let is_outside = is_seen && (was_told || status.observation.is_some());
        let hides_more = is_outside && turn.state().counts_objects(resource);
        if was_claimed || hides_more {
            turn.abort_unfinished(resource, AbortCause::StorageUnknown);
        }
        let mut after = turn.state().status(resource).clone();
        if was_claimed || hides_more {
            ended.push(resource.clone());
            after.unknown_drain = Some(until);
            after.concluded_before = Some(turn.revision());
        }
        if hides_more {
            // Until now a collection was taken to count all that is stored.
            after.persisted.insert(Persisted::Unknown);
        }
        after.remember_versions(&known, turn.revision());
        after.ever_reported = is_seen && !known.is_empty();
        after.stored_outside = is_outside;
        turn.put_storage_state_and(resource, after, None, Then::AbortOnly);
    }
    ended
}

/// Whether a worker may ever have claimed a migration of the resource. None has in a new cluster, whose last replica has just
/// announced itself: under the first machine version no migration can be deleted, and each that has ended is kept, or others are.
fn may_have_been_claimed(state: &State, resource: &GroupResource, before: u32) -> bool {
    let keeps_none = state.settings.migrations_kept == 0;
    let mut migrations = state.migrations_of(resource);
    let is_untouched = |migration: &Migration| {
        migration.phase == MigrationPhase::Pending
            && migration.failures == 0
            && state.migration_progress(&migration.id).is_none()
    };
    before > MACHINE_VERSION_MIN || keeps_none || !migrations.all(|it| is_untouched(it))
}

/// The versions that entries, migrations and the history of agreements name.
fn known_before(state: &State, resource: &GroupResource) -> BTreeSet<ApiVersion> {
    let reported = state.storage_versions.get(resource).into_iter();
    let entries = reported.flat_map(|version| version.entries.values());
    let decodable = entries.flat_map(|row| row.decodable.iter());
    let lines = state.storage_states[resource].agreements.iter();
    let agreed = lines.flat_map(|line| line.from.iter().chain(&line.to));
    let migrations = state.migrations_of(resource);
    let targets = migrations.filter_map(|migration| migration.target.version.as_ref());
    let draining = state.status(resource).drains.keys();
    let all = decodable.chain(agreed).chain(targets).chain(draining);
    all.cloned().collect()
}

/// The number of the named replicas that have announced the version.
fn able(state: &State, raise: &RaiseMachineVersion) -> usize {
    let knows = |id: &&ReplicaId| {
        let row = state.replicas.get(*id);
        row.is_some_and(|row| row.machine_version >= raise.to)
    };
    raise.replicas.iter().filter(knows).count()
}

impl State {
    /// The machine version that an entry brings in force and that this build does not know, so that a driver can stop with
    /// words instead of a panic.
    #[must_use]
    pub fn unknown_version_in(&self, entry: &LogEntry) -> Option<u32> {
        // What replicas announce in this very entry counts for what stands behind it.
        let mut announced = BTreeMap::new();
        for envelope in &entry.commands {
            if let Command::AnnounceReplica(announcement) = &*envelope.command {
                announced.insert(announcement.replica, announcement.machine_version);
            }
            let Command::RaiseMachineVersion(raise) = &*envelope.command else {
                continue;
            };
            let knows = |id: &ReplicaId| {
                let before = self.replicas.get(id).map(|row| row.machine_version);
                let known = announced.get(id).copied().or(before);
                known.is_some_and(|version| version >= raise.to)
            };
            let all = !raise.replicas.is_empty() && raise.replicas.iter().all(knows);
            if raise.to > known_machine_version() && all {
                return Some(raise.to);
            }
        }
        None
    }
}
