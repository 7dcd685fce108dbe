//! `RaiseMachineVersion`: puts a new behaviour of apply in force at the same log index on every replica.

use std::collections::BTreeMap;

use synod_model::{ErrorKind, GroupResource, Refusal, TOPICS_SINCE};

use super::reset_storage_states::doubt;
use crate::turn::Turn;
use crate::{Answer, Command, LogEntry, MACHINE_VERSION, RaiseMachineVersion, ReplicaId, State};

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
    assert!(
        raise.to <= MACHINE_VERSION,
        "this build knows machine version {MACHINE_VERSION} and the log goes on with {}: run the newer release",
        raise.to
    );
    let knew_topics = state.machine_version >= TOPICS_SINCE;
    turn.raise_machine_version(raise.to);
    if !knew_topics {
        begin_topics(turn);
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
            if raise.to > MACHINE_VERSION && all {
                return Some(raise.to);
            }
        }
        None
    }
}
