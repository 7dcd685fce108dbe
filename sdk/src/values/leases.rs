//! Leases as they are read and taken.

use std::time::Duration;

use synod_model::{
    FencingToken, HolderIdentity, Lease, LeaseCandidate, Revision, Ticket, Violations,
};
use synod_proto::v1;

use super::wire::{list, required};
use super::{FromWire, Header};

/// One lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The lease, and what is kept beside it.
    pub item: LeaseItem,
    /// The first who wait for it, in their order; at most 100.
    pub waiters: Vec<(HolderIdentity, Ticket)>,
}

/// Leases in a list, all at one revision, ordered by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasePage {
    /// Who answered, and the revision of all pages of this list.
    pub header: Header,
    /// The leases.
    pub items: Vec<LeaseItem>,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
    pub inconsistent: bool,
}

/// A lease, and what is kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseItem {
    /// The lease.
    pub lease: Lease,
    /// How much log time its hold has left: a hint, since a change of leader gives more. `None` if it is free, and for a
    /// read of the past.
    pub remaining: Option<Duration>,
    /// How many wait for it. `None` for a read of the past.
    pub waiting: Option<u64>,
}

/// What an acquisition was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquired {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Whether the caller has the lease.
    pub acquisition: Acquisition,
}

/// Whether an acquisition has led to a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// The caller has the lease.
    Held {
        /// Its fencing token.
        token: FencingToken,
        /// How long it is held after a renewal.
        ttl: Duration,
    },
    /// The caller has a place in the queue, for as long as it asked for; asking again keeps it.
    Queued {
        /// The place.
        ticket: Ticket,
        /// How many are before it.
        ahead: u64,
    },
}

/// A candidate for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseCandidateItem {
    /// The candidate.
    pub candidate: LeaseCandidate,
    /// How much log time it has left, as in [`LeaseItem::remaining`].
    pub remaining: Option<Duration>,
}

/// Candidates for leases, all at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseCandidatePage {
    /// Who answered, and the revision of all of them.
    pub header: Header,
    /// The candidates, ordered by lease and identity.
    pub items: Vec<LeaseCandidateItem>,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
    pub inconsistent: bool,
}

impl FromWire<v1::LeasesGetResponse> for LeaseView {
    fn from_wire(pb: v1::LeasesGetResponse) -> Result<Self, Violations> {
        let item = LeaseItem::from_wire(v1::LeaseListItem {
            lease: pb.lease,
            remaining_ms: pb.remaining_ms,
            waiting: pb.waiting,
        })?;
        let waiters = list(pb.waiters, |waiter| {
            let holder = HolderIdentity::parse(&waiter.holder)?;
            Ok::<_, synod_model::Violation>((holder, ticket(waiter.ticket)))
        })?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            item,
            waiters,
        })
    }
}

impl FromWire<v1::LeasesListResponse> for LeasePage {
    fn from_wire(pb: v1::LeasesListResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            items: list(pb.items, LeaseItem::from_wire)?,
            inconsistent: pb.inconsistent,
        })
    }
}

impl FromWire<v1::LeaseListItem> for LeaseItem {
    fn from_wire(pb: v1::LeaseListItem) -> Result<Self, Violations> {
        let lease = required(pb.lease).map_err(|fault| fault.at("lease"))?;
        Ok(Self {
            lease: Lease::try_from(lease)?,
            remaining: pb.remaining_ms.map(Duration::from_millis),
            waiting: pb.waiting,
        })
    }
}

impl FromWire<v1::LeasesAcquireResponse> for Acquired {
    fn from_wire(pb: v1::LeasesAcquireResponse) -> Result<Self, Violations> {
        use v1::leases_acquire_response::Result as Answer;
        let result = required(pb.result).map_err(|fault| fault.at("result"))?;
        let acquisition = match result {
            Answer::Held(held) => Acquisition::Held {
                token: FencingToken::new(Revision::new(held.token)),
                ttl: Duration::from_millis(held.ttl_ms),
            },
            Answer::Queued(queued) => Acquisition::Queued {
                ticket: ticket(queued.ticket),
                ahead: queued.ahead,
            },
        };
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            acquisition,
        })
    }
}

impl FromWire<v1::LeasesListCandidatesResponse> for LeaseCandidatePage {
    fn from_wire(pb: v1::LeasesListCandidatesResponse) -> Result<Self, Violations> {
        let items = list(pb.items, |item| {
            let candidate = required(item.candidate).map_err(|fault| fault.at("candidate"))?;
            Ok::<_, Violations>(LeaseCandidateItem {
                candidate: LeaseCandidate::try_from(candidate)?,
                remaining: item.remaining_ms.map(Duration::from_millis),
            })
        })?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            items,
            inconsistent: pb.inconsistent,
        })
    }
}

fn ticket(number: u64) -> Ticket {
    Ticket::new(Revision::new(number))
}
