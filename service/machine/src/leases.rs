//! Leases with their queues and candidates: their maps, and the questions about them.
//!
//! A free lease has no waiter and no elected candidate: the command that frees a lease gives it to the next holder at
//! once ([`succession`](crate::commands)). So a queue survives a change of leader, and no task has to watch it.

mod changes;

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use synod_model::{
    FencingToken, HolderIdentity, Lease, LeaseCandidate, LeaseKey, MemberId, Ticket, Waiter, elect,
};

use crate::Row;

/// All leases, the queue of each, and the candidates of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    pub(crate) rows: OrdMap<LeaseKey, Arc<Lease>>,
    /// A lease without waiters has no key here.
    pub(crate) queues: OrdMap<LeaseKey, Queue>,
    /// A lease without candidates has no key here. A lease with candidates need not exist.
    pub(crate) candidates: OrdMap<LeaseKey, OrdMap<HolderIdentity, Arc<LeaseCandidate>>>,
    /// Derived: the leases whose hold ends with a given member.
    of_member: OrdMap<MemberId, OrdSet<LeaseKey>>,
}

/// The waiters of a lease, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) by_ticket: OrdMap<Ticket, Arc<Waiter>>,
    /// Derived from `by_ticket`.
    by_holder: OrdMap<HolderIdentity, Ticket>,
}

/// The present outcome of a ticket in the queue for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueuePlace {
    /// The caller still waits.
    Waiting {
        /// The number of waiters ahead of this one.
        ahead: u64,
    },
    /// The caller was given the lease and holds it.
    Held(FencingToken),
    /// The place is gone: it expired, it was given up, or the lease that it led to is already lost.
    Gone,
}

impl Leases {
    /// Every row, a lease before its waiters.
    pub(crate) fn to_rows(&self) -> impl Iterator<Item = Row> + '_ {
        let leases = self
            .rows
            .values()
            .map(|lease| Row::Lease(Arc::clone(lease)));
        let waiters = self.queues.iter().flat_map(|(key, queue)| {
            let waiters = queue.by_ticket.iter();
            waiters.map(move |(ticket, waiter)| {
                Row::LeaseWaiter(key.clone(), *ticket, Arc::clone(waiter))
            })
        });
        let candidates = self.candidates.values().flat_map(OrdMap::values);
        let candidates = candidates.map(|candidate| Row::LeaseCandidate(Arc::clone(candidate)));
        leases.chain(waiters).chain(candidates)
    }

    /// The candidate that should have the lease, if the candidates' strategy elects one.
    pub(crate) fn electee(&self, key: &LeaseKey) -> Option<&Arc<LeaseCandidate>> {
        let standing = self.candidates.get(key)?;
        let chosen = elect(standing.values().map(|candidate| &**candidate))?;
        standing.get(&chosen.identity)
    }

    pub(crate) fn candidate(
        &self,
        key: &LeaseKey,
        identity: &HolderIdentity,
    ) -> Option<&Arc<LeaseCandidate>> {
        self.candidates.get(key)?.get(identity)
    }

    pub(crate) fn waiting(&self, key: &LeaseKey) -> usize {
        self.queues
            .get(key)
            .map_or(0, |queue| queue.by_ticket.len())
    }

    pub(crate) fn standing(&self, key: &LeaseKey) -> usize {
        self.candidates.get(key).map_or(0, OrdMap::len)
    }

    pub(crate) fn ticket_of(&self, key: &LeaseKey, holder: &HolderIdentity) -> Option<Ticket> {
        self.queues.get(key)?.by_holder.get(holder).copied()
    }

    /// The leases whose hold ends with the member.
    pub(crate) fn of_member(&self, id: &MemberId) -> Vec<LeaseKey> {
        self.of_member
            .get(id)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// Inserts a lease and returns the one before.
    pub(crate) fn insert(&mut self, lease: Arc<Lease>) -> Option<Arc<Lease>> {
        let key = lease.key.clone();
        if let Some(before) = self.rows.get(&key).cloned() {
            self.index(&before, false);
        }
        self.index(&lease, true);
        self.rows.insert(key, lease)
    }

    fn remove(&mut self, key: &LeaseKey) -> Option<Arc<Lease>> {
        let before = self.rows.remove(key)?;
        self.index(&before, false);
        Some(before)
    }

    fn index(&mut self, lease: &Lease, holds: bool) {
        let Some((member, _)) = lease.hold.as_ref().and_then(|hold| hold.member.as_ref()) else {
            return;
        };
        let mut keys = self.of_member.remove(member).unwrap_or_default();
        if holds {
            keys.insert(lease.key.clone());
        } else {
            keys.remove(&lease.key);
        }
        if !keys.is_empty() {
            self.of_member.insert(member.clone(), keys);
        }
    }

    /// Inserts a waiter and returns the one before at the same place.
    pub(crate) fn insert_waiter(
        &mut self,
        key: &LeaseKey,
        ticket: Ticket,
        waiter: Arc<Waiter>,
    ) -> Option<Arc<Waiter>> {
        let queue = self.queues.entry(key.clone()).or_default();
        queue.by_holder.insert(waiter.holder.clone(), ticket);
        queue.by_ticket.insert(ticket, waiter)
    }

    fn remove_waiter(&mut self, key: &LeaseKey, ticket: Ticket) -> Option<Arc<Waiter>> {
        let queue = self.queues.get_mut(key)?;
        let waiter = queue.by_ticket.remove(&ticket)?;
        queue.by_holder.remove(&waiter.holder);
        if queue.by_ticket.is_empty() {
            self.queues.remove(key);
        }
        Some(waiter)
    }

    /// Inserts a candidate and returns the one before.
    pub(crate) fn insert_candidate(
        &mut self,
        candidate: Arc<LeaseCandidate>,
    ) -> Option<Arc<LeaseCandidate>> {
        self.candidates
            .entry(candidate.lease.clone())
            .or_default()
            .insert(candidate.identity.clone(), candidate)
    }

    fn remove_candidate(
        &mut self,
        key: &LeaseKey,
        identity: &HolderIdentity,
    ) -> Option<Arc<LeaseCandidate>> {
        let standing = self.candidates.get_mut(key)?;
        let before = standing.remove(identity);
        if standing.is_empty() {
            self.candidates.remove(key);
        }
        before
    }
}
