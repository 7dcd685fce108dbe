//! How a command changes leases, their queues and candidates, through methods of its [`Turn`].

use std::sync::Arc;

use synod_model::{
    Hold, HolderIdentity, Lease, LeaseCandidate, LeaseKey, Metadata, PutLeaseCandidate, Ticket,
    Ttl, Waiter,
};

use crate::Holder;
use crate::hashes::lease_waiter_hash;
use crate::turn::Turn;

impl Turn<'_> {
    /// Sets the holder and the preferred candidate of a lease, and creates the lease if necessary. A hold under a new
    /// token, and a lease that becomes free, get a deadline; a free lease is forgotten after the longest TTL.
    pub(crate) fn put_hold(
        &mut self,
        key: &LeaseKey,
        hold: Option<Hold>,
        preferred: Option<HolderIdentity>,
    ) {
        let before = self.state().leases.rows.get(key).cloned();
        self.put_lease(key, before.as_deref(), hold, preferred);
    }

    /// Puts a new lease in place of one that is deleted.
    pub(crate) fn put_new_lease(
        &mut self,
        key: &LeaseKey,
        hold: Hold,
        preferred: Option<HolderIdentity>,
    ) {
        self.put_lease(key, None, Some(hold), preferred);
    }

    /// Puts a lease that is the one of before, or a new one.
    fn put_lease(
        &mut self,
        key: &LeaseKey,
        before: Option<&Lease>,
        hold: Option<Hold>,
        preferred: Option<HolderIdentity>,
    ) {
        assert!(
            hold.is_some() || self.state().lease_waiters(key).next().is_none(),
            "lease {key}: nobody waits for a lease that is free"
        );
        let token = |hold: Option<&Hold>| hold.map(|hold| hold.token);
        let had = before.and_then(|lease| token(lease.hold.as_ref()));
        let has = token(hold.as_ref());
        let is_given = has.is_some() && has != had;
        let after = Lease {
            key: key.clone(),
            transitions: before.map_or(0, |lease| lease.transitions + u64::from(is_given)),
            preferred,
            metadata: self.metadata(before.map(|lease| &lease.metadata)),
            hold,
        };
        if has != had {
            let ttl = after.hold.as_ref().map_or(Ttl::MAX, |hold| hold.ttl);
            self.set_deadline(Holder::Lease(key.clone()), ttl.duration());
        }
        let after = Arc::new(after);
        let before = self.leases().insert(Arc::clone(&after));
        self.record::<Lease>(key.clone(), before, Some(after));
    }

    /// Removes a lease that is free, or whose hold no longer counts, and its deadline.
    pub(crate) fn forget_lease(&mut self, key: &LeaseKey) {
        let before = self.leases().remove(key);
        let before = before.expect("the command found the lease");
        self.clear_deadline(&Holder::Lease(key.clone()));
        self.record::<Lease>(key.clone(), Some(before), None);
    }

    /// Adds a waiter at the end of the queue, or replaces what the waiter of a present place asks for, and moves its
    /// deadline. Only a new place moves the revision, which is its ticket.
    pub(crate) fn put_waiter(&mut self, key: &LeaseKey, ticket: Ticket, waiter: Waiter) {
        if ticket.revision() == self.revision() {
            self.moves();
        }
        let holder = Holder::LeaseWaiter(key.clone(), ticket);
        self.set_deadline(holder, waiter.wait.duration());
        self.add(lease_waiter_hash(key, ticket, &waiter));
        let waiter = Arc::new(waiter);
        if let Some(before) = self.leases().insert_waiter(key, ticket, waiter) {
            self.subtract(lease_waiter_hash(key, ticket, &before));
        }
    }

    /// Removes a waiter and its deadline.
    pub(crate) fn remove_waiter(&mut self, key: &LeaseKey, ticket: Ticket) -> Arc<Waiter> {
        self.moves();
        let waiter = self
            .leases()
            .remove_waiter(key, ticket)
            .expect("the command found the waiter");
        self.subtract(lease_waiter_hash(key, ticket, &waiter));
        self.clear_deadline(&Holder::LeaseWaiter(key.clone(), ticket));
        waiter
    }

    /// Inserts a candidate with what it declares.
    pub(crate) fn put_candidate(&mut self, put: &PutLeaseCandidate, metadata: Metadata) {
        let after = Arc::new(LeaseCandidate {
            lease: put.key.clone(),
            identity: put.identity.clone(),
            binary_version: put.binary_version.clone(),
            emulation_version: put.emulation_version.clone(),
            strategy: put.strategy.clone(),
            ttl: put.ttl,
            metadata,
        });
        let before = self.leases().insert_candidate(Arc::clone(&after));
        let key = (put.key.clone(), put.identity.clone());
        self.record::<LeaseCandidate>(key, before, Some(after));
    }

    /// Removes a candidate and its deadline.
    pub(crate) fn remove_candidate(&mut self, key: &LeaseKey, identity: &HolderIdentity) {
        let before = self.leases().remove_candidate(key, identity);
        let before = before.expect("the command found the candidate");
        self.clear_deadline(&Holder::LeaseCandidate(key.clone(), identity.clone()));
        self.record::<LeaseCandidate>((key.clone(), identity.clone()), Some(before), None);
    }
}
