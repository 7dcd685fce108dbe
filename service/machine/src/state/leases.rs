//! What the state answers about leases, their deadlines and their queues.

use std::ops::Bound;
use std::sync::Arc;

use synod_model::limits::LEASE_CONTENDERS_MAX;
use synod_model::{
    Current, ErrorKind, FencingToken, Lease, LeaseKey, Refusal, Revision, Ticket, Waiter,
};

use crate::{QueuePlace, State};

impl State {
    /// The lease, if it is held under this token: the check that fences a holder.
    ///
    /// # Errors
    ///
    /// `STALE_EPOCH`, with the present lease, if the token does not hold it. That is final: a token is given once.
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

    /// The waiters of a lease, in their order. Those whose places a switch has ended are none any more, whether their rows
    /// are still there or not.
    pub fn lease_waiters(
        &self,
        key: &LeaseKey,
    ) -> impl Iterator<Item = (Ticket, &Arc<Waiter>)> + use<'_> {
        let ended = Bound::Excluded(Ticket::new(self.places_ended()));
        let queue = self.leases.queues.get(key).into_iter();
        queue
            .flat_map(move |queue| queue.by_ticket.range((ended, Bound::Unbounded)))
            .map(|(ticket, waiter)| (*ticket, waiter))
    }

    /// The number of waiters of a lease.
    #[must_use]
    pub fn lease_waiter_count(&self, key: &LeaseKey) -> usize {
        if self.places_ended() == Revision::ZERO {
            self.leases.waiting(key)
        } else {
            self.lease_waiters(key).count()
        }
    }

    /// The present outcome of a ticket. Costs one step for each waiter ahead of it.
    #[must_use]
    pub fn lease_place(&self, key: &LeaseKey, ticket: Ticket) -> QueuePlace {
        if let Some(queue) = self.leases.queues.get(key)
            && queue.by_ticket.contains_key(&ticket)
            && !self.is_place_ended(ticket)
        {
            let ahead = self.lease_waiters(key);
            let ahead = ahead.take_while(|(place, _)| *place < ticket).count() as u64;
            return QueuePlace::Waiting { ahead };
        }
        let lease = self.leases.rows.get(key);
        match lease.and_then(|lease| lease.hold.as_ref()) {
            Some(hold) if hold.ticket == Some(ticket) => QueuePlace::Held(hold.token),
            Some(_) | None => QueuePlace::Gone,
        }
    }

    /// Refuses one more waiter or candidate when the lease has the most that it may have.
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
