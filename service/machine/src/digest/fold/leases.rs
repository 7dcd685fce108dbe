//! The canonical form of leases, their waiters and candidates.

use synod_model::{Epoch, Hold, Lease, LeaseCandidate, LeaseKey, MemberId, Ticket, Waiter};

use super::values::fold_metadata;
use crate::digest::{RowHash, RowHasher};

pub(crate) fn lease_hash(lease: &Lease) -> RowHash {
    let mut to = RowHasher::new(40);
    fold_lease(&mut to, lease);
    to.finish()
}

pub(crate) fn lease_waiter_hash(key: &LeaseKey, ticket: Ticket, waiter: &Waiter) -> RowHash {
    let Waiter {
        holder,
        ttl,
        wait,
        member,
    } = waiter;
    let mut to = RowHasher::new(41);
    to.text(key.as_str());
    to.number(ticket.get());
    to.text(holder.as_str());
    to.number(ttl.as_millis());
    to.number(wait.as_millis());
    fold_speaker(&mut to, member.as_ref());
    to.finish()
}

pub(crate) fn lease_candidate_hash(candidate: &LeaseCandidate) -> RowHash {
    let mut to = RowHasher::new(42);
    fold_lease_candidate(&mut to, candidate);
    to.finish()
}

pub(super) fn fold_lease(to: &mut RowHasher, lease: &Lease) {
    let Lease {
        key,
        hold,
        transitions,
        preferred,
        metadata,
    } = lease;
    to.text(key.as_str());
    to.option(hold.as_ref(), |to, hold| {
        let Hold {
            holder,
            token,
            ticket,
            ttl,
            member,
            acquired,
        } = hold;
        to.text(holder.as_str());
        to.number(token.get());
        to.option(*ticket, |to, ticket| to.number(ticket.get()));
        to.number(ttl.as_millis());
        fold_speaker(to, member.as_ref());
        to.number(acquired.as_millis());
    });
    to.number(*transitions);
    to.option(preferred.as_ref(), |to, holder| to.text(holder.as_str()));
    fold_metadata(to, metadata);
}

fn fold_speaker(to: &mut RowHasher, member: Option<&(MemberId, Epoch)>) {
    to.option(member, |to, (id, epoch)| {
        to.text(id.as_str());
        to.number(epoch.get());
    });
}

pub(super) fn fold_lease_candidate(to: &mut RowHasher, candidate: &LeaseCandidate) {
    let LeaseCandidate {
        lease,
        identity,
        binary_version,
        emulation_version,
        strategy,
        ttl,
        metadata,
    } = candidate;
    to.text(lease.as_str());
    to.text(identity.as_str());
    to.text(binary_version.as_str());
    to.option(emulation_version.as_ref(), |to, version| {
        to.text(version.as_str());
    });
    to.text(strategy.as_str());
    to.number(ttl.as_millis());
    fold_metadata(to, metadata);
}
