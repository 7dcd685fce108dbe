//! The answers about leases.

use std::time::Duration;

use synod_model::{FencingToken, HolderIdentity, Lease, LeaseCandidate, Ticket, Violations};

use synod_proto::wire::{Wire, required};
use synod_proto::{messages, v1};

use super::Header;

/// One lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The lease, its remaining time and the length of its queue.
    pub item: LeaseItem,
    /// The first waiting holders, in the order of the queue; at most 100.
    pub waiters: Vec<(HolderIdentity, Ticket)>,
}

/// Leases in a list, all at one revision, ordered by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasePage {
    /// The replica that answered, and the revision of all pages of this list.
    pub header: Header,
    /// The leases.
    pub items: Vec<LeaseItem>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// A lease, its remaining time and the length of its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseItem {
    /// The lease.
    pub lease: Lease,
    /// How much log time its hold has left at least: a hint, since a change of leader extends it. The leader knows of all
    /// renewals, another replica of fewer, if of any. `None` also if the lease is free, and for a read of the past.
    pub remaining: Option<Duration>,
    /// How many processes wait for it. `None` for a read of the past.
    pub waiting: Option<u64>,
}

/// The answer to an acquisition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquired {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Whether the caller has the lease.
    pub acquisition: Acquisition,
}

/// The result of an acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// The caller has the lease.
    Held {
        /// The fencing token of the hold.
        token: FencingToken,
        /// How long the lease is held after a renewal.
        ttl: Duration,
    },
    /// The caller has a place in the queue, kept for the time that it asked for; asking again keeps it longer.
    Queued {
        /// The place.
        ticket: Ticket,
        /// The number of waiting callers ahead of this one.
        ahead: u64,
    },
}

/// A candidate for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseCandidateItem {
    /// The candidate.
    pub candidate: LeaseCandidate,
    /// How much log time the candidate has left, as in [`LeaseItem::remaining`].
    pub remaining: Option<Duration>,
}

/// Candidates for leases, all at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseCandidatePage {
    /// The replica that answered, and the revision of all items.
    pub header: Header,
    /// The candidates, ordered by lease and identity.
    pub items: Vec<LeaseCandidateItem>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

messages! {
    v1::LeasesListResponse = LeasePage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::LeaseListItem = LeaseItem {
        lease = lease,
        remaining = remaining_ms,
        waiting = waiting,
    }
    v1::LeasesListCandidatesResponse = LeaseCandidatePage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::LeaseCandidateItem = LeaseCandidateItem {
        candidate = candidate,
        remaining = remaining_ms,
    }
    v1::LeasesAcquireResponse = Acquired {
        header = header,
        acquisition = result,
    }
}

impl Wire<v1::LeasesGetResponse> for LeaseView {
    fn to_wire(&self) -> v1::LeasesGetResponse {
        let item: v1::LeaseListItem = self.item.to_wire();
        let waiters = self.waiters.iter();
        v1::LeasesGetResponse {
            header: self.header.to_wire(),
            lease: item.lease,
            remaining_ms: item.remaining_ms,
            waiting: item.waiting,
            waiters: waiters
                .map(|(holder, ticket)| v1::LeaseWaiter {
                    holder: holder.to_wire(),
                    ticket: ticket.to_wire(),
                })
                .collect(),
        }
    }

    fn of_wire(pb: v1::LeasesGetResponse) -> Result<Self, Violations> {
        let item = v1::LeaseListItem {
            lease: pb.lease,
            remaining_ms: pb.remaining_ms,
            waiting: pb.waiting,
        };
        let waiter = |pb: v1::LeaseWaiter| {
            Ok::<_, Violations>((Wire::of_wire(pb.holder)?, Wire::of_wire(pb.ticket)?))
        };
        let waiters: Result<_, Violations> = pb.waiters.into_iter().map(waiter).collect();
        Ok(Self {
            header: Wire::of_wire(pb.header)?,
            item: Wire::of_wire(item)?,
            waiters: waiters?,
        })
    }
}

impl Wire<Option<v1::leases_acquire_response::Result>> for Acquisition {
    fn to_wire(&self) -> Option<v1::leases_acquire_response::Result> {
        use v1::leases_acquire_response::Result as Sent;
        Some(match self {
            Self::Held { token, ttl } => Sent::Held(v1::LeaseHeld {
                token: token.to_wire(),
                ttl_ms: ttl.to_wire(),
            }),
            Self::Queued { ticket, ahead } => Sent::Queued(v1::LeaseQueued {
                ticket: ticket.to_wire(),
                ahead: *ahead,
            }),
        })
    }

    fn of_wire(pb: Option<v1::leases_acquire_response::Result>) -> Result<Self, Violations> {
        use v1::leases_acquire_response::Result as Sent;
        Ok(match required(pb, "every replica sets it")? {
            Sent::Held(held) => Self::Held {
                token: Wire::of_wire(held.token)?,
                ttl: Wire::of_wire(held.ttl_ms)?,
            },
            Sent::Queued(queued) => Self::Queued {
                ticket: Wire::of_wire(queued.ticket)?,
                ahead: queued.ahead,
            },
        })
    }
}
