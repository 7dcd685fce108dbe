//! `RaiseMachineVersion`: puts a new behaviour of apply in force at the same log index on every replica.

use std::collections::BTreeMap;

use synod_model::{ErrorKind, GroupResource, Refusal};

use crate::turn::Turn;
use crate::voting::weigh;
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
    turn.raise_machine_version(raise.to);
    weigh_topics(turn);
    Ok(Answer::Done)
}

/// Has what discovery showed of keys and features count no more, where topics come in force now.
fn weigh_topics(turn: &mut Turn<'_>) {
    let state = turn.state();
    let kept = state.storage_states.iter();
    let contradicted = kept.filter(|(resource, kept)| {
        kept.row.status.contradicted && !state.topic_kind(resource).is_seen_in_stores()
    });
    let resources: Vec<GroupResource> = contradicted.map(|(name, _)| name.clone()).collect();
    for resource in &resources {
        if let Some(decided) = weigh(turn.state(), turn.occasion(), resource) {
            turn.carry_out(decided);
        }
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
