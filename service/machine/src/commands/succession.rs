//! Decides who holds a lease next: shared by every command that frees a lease or changes its candidates.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{
    Feature, FencingToken, Hold, HolderIdentity, Lease, LeaseKey, MemberId, Ticket, Ttl,
};

use crate::turn::Turn;
use crate::{Expire, Holder};

/// Whether the present holder keeps the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Present {
    /// It does, though another candidate may now be preferred.
    Stays,
    /// It has released the lease, or lost it.
    Goes,
    /// The lease is deleted: the next holder has a new one, and without any there is none.
    GoesWithItsLease,
}

/// Gives a lease that is free, or becomes free, to the elected candidate, or without one to the first waiter. If the
/// holder stays, records the candidate that is preferred to it.
///
/// While leases are switched off nobody gets one, and no candidate is preferred to who holds it: a holder that gave way
/// to it would leave the lease free.
pub(super) fn settle(turn: &mut Turn<'_>, key: &LeaseKey, present: Present) {
    let before = turn.state().leases.rows.get(key).cloned();
    let is_off = turn.state().is_off(Feature::Leases);
    let electee = turn.state().leases.electee(key).cloned();
    let electee = electee.filter(|_| !is_off);
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
    match (present, hold) {
        (Present::GoesWithItsLease, Some(hold)) => turn.put_new_lease(key, hold, preferred),
        (Present::GoesWithItsLease, None) => {
            leave_no_places(turn, key);
            turn.forget_lease(key);
        }
        (Present::Stays | Present::Goes, hold) => {
            if (&hold, &preferred) != (&had, &preferred_before) {
                turn.put_hold(key, hold, preferred);
            }
        }
    }
}

/// Removes the places that a switch has ended and whose rows are still there: no row hangs on a lease that there is not.
fn leave_no_places(turn: &mut Turn<'_>, key: &LeaseKey) {
    let queue = turn.state().leases.queues.get(key).into_iter();
    let tickets: Vec<Ticket> = queue
        .flat_map(|queue| queue.by_ticket.keys().copied())
        .collect();
    for ticket in tickets {
        turn.remove_waiter(key, ticket);
    }
}

/// Removes the new holder from the queue for the lease.
fn withdrawn(turn: &mut Turn<'_>, key: &LeaseKey, holder: &HolderIdentity) -> Option<Ticket> {
    let ticket = turn.state().leases.ticket_of(key, holder)?;
    turn.remove_waiter(key, ticket);
    Some(ticket).filter(|ticket| !turn.state().is_place_ended(*ticket))
}

/// Removes the first valid waiter from the queue. Waiters whose place has expired, or whose member is gone, are
/// skipped: a lease given to one of them would be blocked for a TTL. Those that a switch has ended are left to what follows
/// from it.
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

/// Gives the leases whose hold ends with the member to their next holders.
pub(super) fn free_of_member(turn: &mut Turn<'_>, id: &MemberId) {
    for key in turn.state().leases.of_member(id) {
        settle(turn, &key, Present::Goes);
    }
}

/// The numbers of what an expiry ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    pub(super) leases: usize,
    pub(super) waiters: usize,
    pub(super) candidates: usize,
}

/// Ends what is past its deadline, and holds of members that went in the same command. Everything ends before a lease
/// is given on, so that no lease is given to a waiter or candidate that expired as well.
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
        } else if turn.state().leases.waiting(key) == 0 {
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

/// Moves the deadline of a hold.
pub(super) fn renew(turn: &mut Turn<'_>, key: &LeaseKey, ttl: Ttl) {
    turn.extend_deadline(Holder::Lease(key.clone()), ttl.duration());
}
