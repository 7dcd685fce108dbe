//! Who has a lease next: shared by all that frees a lease or changes its candidates.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{FencingToken, Hold, HolderIdentity, Lease, LeaseKey, MemberId, Ttl};

use crate::turn::Turn;
use crate::{Expire, Holder};

/// Whether the present holder keeps the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Present {
    /// It does, though somebody else may be preferred now.
    Stays,
    /// It has given it up, or lost it.
    Goes,
}

/// Gives a lease that is free or becomes so to who is next: to the candidate whom their strategy chooses, and where none
/// is chosen to the first who waits. Says who is preferred to the holder of one that is not.
pub(super) fn settle(turn: &mut Turn<'_>, key: &LeaseKey, present: Present) {
    let before = turn.state().leases.rows.get(key).cloned();
    let electee = turn.state().leases.electee(key).cloned();
    let had = before.as_ref().and_then(|lease| lease.hold.clone());
    let stays = had.clone().filter(|_| present == Present::Stays);
    let hold = match (stays, &electee) {
        (Some(hold), _) => Some(hold),
        (None, Some(chosen)) => Some(Hold {
            holder: chosen.identity.clone(),
            token: FencingToken::new(turn.revision()),
            ticket: withdrawn(turn, key, &chosen.identity),
            ttl: chosen.ttl,
            member: None,
            acquired: turn.wall(),
        }),
        (None, None) => first_in_queue(turn, key),
    };
    let preferred = match (&hold, electee) {
        (Some(hold), Some(chosen)) if chosen.identity != hold.holder => {
            Some(chosen.identity.clone())
        }
        _ => None,
    };
    let preferred_before = before.and_then(|lease: std::sync::Arc<Lease>| lease.preferred.clone());
    if (&hold, &preferred) != (&had, &preferred_before) {
        turn.put_hold(key, hold, preferred);
    }
}

/// Takes whoever has the lease now out of the queue for it.
fn withdrawn(
    turn: &mut Turn<'_>,
    key: &LeaseKey,
    holder: &HolderIdentity,
) -> Option<synod_model::Ticket> {
    let ticket = turn.state().leases.ticket_of(key, holder)?;
    turn.remove_waiter(key, ticket);
    Some(ticket)
}

/// Takes the first out of the queue who is still there. Those whose place has run out, or whose member is gone, are
/// passed over: giving them the lease would keep it from the others for a TTL.
fn first_in_queue(turn: &mut Turn<'_>, key: &LeaseKey) -> Option<Hold> {
    loop {
        let (ticket, _) = turn.state().lease_waiters(key).next()?;
        let place = Holder::LeaseWaiter(key.clone(), ticket);
        let is_late = turn.state().deadlines.is_due(&place, turn.log_time());
        let waiter = turn.remove_waiter(key, ticket);
        let speaks = waiter
            .member
            .as_ref()
            .is_none_or(|(id, epoch)| turn.state().fenced(id, *epoch).is_ok());
        if speaks && !is_late {
            return Some(Hold {
                holder: waiter.holder.clone(),
                token: FencingToken::new(turn.revision()),
                ticket: Some(ticket),
                ttl: waiter.ttl,
                member: waiter.member.clone(),
                acquired: turn.wall(),
            });
        }
    }
}

/// The leases whose hold ends with the member become those of who is next.
pub(super) fn free_of_member(turn: &mut Turn<'_>, id: &MemberId) {
    for key in turn.state().leases.of_member(id) {
        settle(turn, &key, Present::Goes);
    }
}

/// What an expiry ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    pub(super) leases: usize,
    pub(super) waiters: usize,
    pub(super) candidates: usize,
}

/// Ends what is past its deadline, and what hangs on members that went in the same command. Everything goes before
/// anything is given anew, so that nobody is given a lease who is past a deadline too.
pub(super) fn expire(turn: &mut Turn<'_>, expire: &Expire, gone: &BTreeSet<MemberId>) -> Ended {
    let mut ended = Ended::default();
    let mut touched: BTreeMap<LeaseKey, Present> = BTreeMap::new();
    for (key, identity) in &expire.lease_candidates {
        let holder = Holder::LeaseCandidate(key.clone(), identity.clone());
        if is_due(turn, &holder) {
            turn.remove_candidate(key, identity);
            touched.insert(key.clone(), Present::Stays);
            ended.candidates += 1;
        }
    }
    for (key, ticket) in &expire.lease_waiters {
        if is_due(turn, &Holder::LeaseWaiter(key.clone(), *ticket)) {
            turn.remove_waiter(key, *ticket);
            ended.waiters += 1;
        }
    }
    for (key, seen) in &expire.leases {
        let Some(lease) = turn.state().leases.rows.get(key) else {
            continue;
        };
        if lease.metadata.resource_version != *seen || !is_due(turn, &Holder::Lease(key.clone())) {
            continue;
        }
        if lease.hold.is_some() {
            touched.insert(key.clone(), Present::Goes);
            ended.leases += 1;
        } else {
            turn.forget_lease(key);
        }
    }
    for key in gone.iter().flat_map(|id| turn.state().leases.of_member(id)) {
        touched.insert(key, Present::Goes);
    }
    for (key, present) in touched {
        settle(turn, &key, present);
    }
    ended
}

fn is_due(turn: &Turn<'_>, holder: &Holder) -> bool {
    turn.state().deadlines.is_due(holder, turn.log_time())
}

/// The deadline of a hold is moved.
pub(super) fn renew(turn: &mut Turn<'_>, key: &LeaseKey, ttl: Ttl) {
    turn.extend_deadline(Holder::Lease(key.clone()), ttl.duration());
}
