//! Leases in the state.

use std::sync::Arc;

use synod_model::limits::LEASE_CONTENDERS_MAX;
use synod_model::{
    Current, ErrorKind, FencingToken, HolderIdentity, Lease, LeaseKey, LogTime, Refusal, Ticket,
    Waiter,
};

use crate::{Holder, QueuePlace, State};

impl State {
    /// Whether the lease is held by this very token: the fence of whoever acts under it.
    ///
    /// # Errors
    ///
    /// `STALE_EPOCH`, with the lease as it stands, if it is not. That is final: a token is given once.
    pub fn holds_lease(&self, key: &LeaseKey, token: FencingToken) -> Result<&Arc<Lease>, Refusal> {
        let present = self.leases.rows.get(key);
        let held_by = present.and_then(|lease| lease.hold.as_ref());
        if let (Some(lease), Some(hold)) = (present, held_by)
            && hold.token == token
        {
            return Ok(lease);
        }
        let now = match held_by {
            Some(hold) => format!("\"{}\" holds it by token {}", hold.holder, hold.token),
            None => "nobody holds it".to_owned(),
        };
        let message = format!(
            "lease \"{key}\" is not held by token {token}: {now}; whoever acted under that token must stop"
        );
        let refusal = Refusal::new(ErrorKind::StaleEpoch, message).with("lease", key.as_str());
        Err(match present {
            Some(lease) => refusal.with_current(Current::Lease((**lease).clone())),
            None => refusal,
        })
    }

    /// When the lease ends unless it is renewed, or is forgotten if it is free: lifts counted.
    #[must_use]
    pub fn lease_deadline(&self, key: &LeaseKey) -> Option<LogTime> {
        self.deadlines.effective(&Holder::Lease(key.clone()))
    }

    /// When the candidate ceases to stand unless it renews: lifts counted.
    #[must_use]
    pub fn candidate_deadline(&self, key: &LeaseKey, identity: &HolderIdentity) -> Option<LogTime> {
        self.deadlines
            .effective(&Holder::LeaseCandidate(key.clone(), identity.clone()))
    }

    /// Who waits for a lease, in their order.
    pub fn lease_waiters(
        &self,
        key: &LeaseKey,
    ) -> impl Iterator<Item = (Ticket, &Arc<Waiter>)> + use<'_> {
        let queue = self.leases.queues.get(key).into_iter();
        queue
            .flat_map(|queue| &queue.by_ticket)
            .map(|(ticket, waiter)| (*ticket, waiter))
    }

    /// How many wait for a lease.
    #[must_use]
    pub fn lease_waiter_count(&self, key: &LeaseKey) -> usize {
        self.leases.waiting(key)
    }

    /// Where a place in the queue has led to. Costs a step for each who is before it.
    #[must_use]
    pub fn lease_place(&self, key: &LeaseKey, ticket: Ticket) -> QueuePlace {
        if let Some(queue) = self.leases.queues.get(key)
            && queue.by_ticket.contains_key(&ticket)
        {
            let ahead = queue.by_ticket.range(..ticket).count() as u64;
            return QueuePlace::Waiting { ahead };
        }
        let lease = self.leases.rows.get(key);
        match lease.and_then(|lease| lease.hold.as_ref()) {
            Some(hold) if hold.ticket == Some(ticket) => QueuePlace::Held(hold.token),
            Some(_) | None => QueuePlace::Gone,
        }
    }

    /// Whether one more may contend for the lease.
    pub(crate) fn check_contenders(&self, key: &LeaseKey, present: usize) -> Result<(), Refusal> {
        if present >= LEASE_CONTENDERS_MAX {
            let message = format!(
                "{LEASE_CONTENDERS_MAX} already contend for lease \"{key}\", the most that may: try again later"
            );
            return Err(Refusal::new(ErrorKind::Quota, message));
        }
        self.check_quota()
    }
}
