//! `Restore`: the state of a backup continues as another cluster.
//!
//! What happened after the backup is unknown here: epochs, tokens, sessions, selected versions, and what was stored. So
//! every number continues far beyond all that can have been given, every hold ends, and what is stored outside of Synod
//! becomes unknown. Members of the lost cluster may write until their proof of membership ends, including members that
//! the backup does not name: those may have the longest TTL, and may write versions that are unknown here.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{
    AbortCause, ErrorKind, GroupResource, LogTime, MemberId, Persisted, Refusal, Revision, Ttl,
};

use super::departure;
use crate::looks::Looks;
use crate::turn::Then;
use crate::turn::Turn;
use crate::voting::raise_drains;
use crate::{Answer, Holder, Restore, State};

pub(crate) fn apply(turn: &mut Turn<'_>, restore: &Restore) -> Result<Answer, Refusal> {
    let revision = decide(turn.state(), restore)?;
    let grace = turn.state().settings.write_grace;
    let until = turn.log_time().after(Ttl::MAX.duration()).after(grace);
    turn.restore(restore.cluster, revision, until);
    let resources: Vec<_> = turn.state().storage_states.keys().cloned().collect();
    for resource in &resources {
        // The worker that had claimed the migration may have continued, and others may have written behind it.
        turn.abort_unfinished(resource, AbortCause::StorageUnknown);
        forget_observation(turn, resource);
    }
    end_members(turn);
    for resource in &resources {
        forget_store(turn, resource, until);
    }
    end_leases(turn);
    let sessions: Vec<_> = turn.state().sessions.keys().copied().collect();
    for id in sessions {
        turn.remove_session(id);
    }
    forget_replicas(turn);
    Ok(Answer::Done)
}

/// The revision at which the state continues, or the refusal.
fn decide(state: &State, restore: &Restore) -> Result<Revision, Refusal> {
    let Restore { cluster } = restore;
    if state.cluster.as_ref() == Some(cluster) {
        return Err(Refusal::new(
            ErrorKind::AlreadyExists,
            format!(
                "cluster {cluster} is this one already: what is restored needs an identity of its own, under which \
                 nothing was ever given"
            ),
        ));
    }
    state.revision.restored().ok_or_else(|| {
        Refusal::new(
            ErrorKind::Quota,
            format!(
                "revision {} leaves no room for a restore, which raises it by 2^40",
                state.revision
            ),
        )
    })
}

/// Removes every member as if it had expired.
fn end_members(turn: &mut Turn<'_>) {
    let members: BTreeSet<MemberId> = turn.state().members.keys().cloned().collect();
    let running = departure::Drain::Running;
    departure::remove_entries(turn, &members, &members, &BTreeMap::new(), running);
    departure::remove_members(turn, &members, running);
    turn.forget_memberships();
}

/// Drops the observation, which is as old as the backup. This precedes the members' removal: without members an
/// observation would become the agreement.
fn forget_observation(turn: &mut Turn<'_>, resource: &GroupResource) {
    turn.clear_deadline(&Holder::Observation(resource.clone()));
    let mut after = turn.state().status(resource).clone();
    if after.observation.is_some() {
        after.put_looks(Looks::default());
        after.agreed_hash = None;
        after.agreement_revision = turn.revision();
        turn.put_storage_state_and(resource, after, None, Then::AbortOnly);
    }
}

/// What is stored outside is newer than the state, so it is unknown; a collection was restored with its objects.
///
/// The versions that are named here get visible drains; `strangers_write_until` covers all others, for all resources.
fn forget_store(turn: &mut Turn<'_>, resource: &GroupResource, until: LogTime) {
    let before = turn.state().status(resource).clone();
    let mut after = before.clone();
    let persisted = before.persisted.iter().filter_map(Persisted::version);
    raise_drains(&mut after, persisted.chain(&before.selected), until);
    if !turn.state().is_counted(resource) {
        after.persisted.insert(Persisted::Unknown);
    }
    if after != before {
        turn.put_storage_state(resource, after, None);
    }
}

/// Removes every hold, waiter and candidate.
fn end_leases(turn: &mut Turn<'_>) {
    let leases = &turn.state().leases;
    let candidates = leases.candidates.iter();
    let candidates: Vec<_> = candidates
        .flat_map(|(key, standing)| standing.keys().map(|who| (key.clone(), who.clone())))
        .collect();
    let waiters: Vec<_> = leases
        .queues
        .iter()
        .flat_map(|(key, queue)| queue.by_ticket.keys().map(|ticket| (key.clone(), *ticket)))
        .collect();
    let keys: Vec<_> = leases.rows.keys().cloned().collect();
    for (key, identity) in &candidates {
        turn.remove_candidate(key, identity);
    }
    for (key, ticket) in &waiters {
        turn.remove_waiter(key, *ticket);
    }
    for key in &keys {
        turn.forget_lease(key);
    }
}

/// Removes what the replicas of the lost cluster have announced: a new one under an old id serves somewhere else, may know
/// fewer behaviours of apply, and must not be held for low on its disk because the old one was. Numbers of replicas that had left
/// the lost cluster are free again: the new one has another id.
fn forget_replicas(turn: &mut Turn<'_>) {
    let replicas: Vec<_> = turn.state().replicas.keys().copied().collect();
    for id in replicas {
        turn.remove_replica(id);
    }
    turn.forget_left();
}

#[cfg(test)]
mod tests {
    use synod_model::ClusterId;

    use super::*;

    #[test]
    fn a_restore_that_64_bits_have_no_room_for_is_refused() {
        let last = u64::MAX - (1 << 40);
        let mut state = State::new();
        let restore = Restore {
            cluster: ClusterId::from_bytes([2; 16]),
        };
        state.revision = Revision::new(last);
        assert_eq!(decide(&state, &restore), Ok(Revision::new(u64::MAX)));
        state.revision = Revision::new(last + 1);
        assert_eq!(
            decide(&state, &restore).map_err(|refusal| refusal.kind),
            Err(ErrorKind::Quota)
        );
    }
}
