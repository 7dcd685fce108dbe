//! Leases: a lease has one holder at a time, who keeps it by renewing.

use std::sync::Arc;

use crate::limits::HOLDER_BYTES_MAX;
use crate::text::{shared_text, short_identity};
use crate::{Epoch, FencingToken, LeaseKey, MemberId, Metadata, Ticket, Ttl, Violation, WallTime};

/// The identity of a process that holds a lease or wants to: a text that no other process has at the same time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HolderIdentity(Arc<str>);

impl HolderIdentity {
    /// The identity with this text.
    ///
    /// # Errors
    ///
    /// Empty, longer than 317 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            let rule = "must be the holder's identity, unique among running processes";
            return Err(Violation::required(rule));
        }
        short_identity(text, HOLDER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }

    /// The lower bound of all identities in their order; it is not a legal identity itself.
    #[must_use]
    pub fn before_all() -> Self {
        Self("".into())
    }
}

shared_text!(HolderIdentity);

/// A lease as readers see it.
///
/// Its deadline and its queue are not part of it: renewals and waiters change nothing here, so the same resource
/// version is always the same lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its namespace and name.
    pub key: LeaseKey,
    /// The current hold; `None` while the lease is free.
    pub hold: Option<Hold>,
    /// How often the lease was given to a holder after the first time.
    pub transitions: u64,
    /// The candidate that should hold the lease, if that is not its holder.
    pub preferred: Option<HolderIdentity>,
    /// Uid, revisions and times.
    pub metadata: Metadata,
}

/// The hold of a lease by one holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The holder.
    pub holder: HolderIdentity,
    /// The fencing token: the revision of the command that gave the lease to this holder.
    pub token: FencingToken,
    /// The holder's place in the queue, if it had waited.
    pub ticket: Option<Ticket>,
    /// How long the hold lasts without a renewal.
    pub ttl: Ttl,
    /// The member and epoch that the hold ends with, if the holder named one.
    pub member: Option<(MemberId, Epoch)>,
    /// The wall time at which the lease was given; only shown.
    pub acquired: WallTime,
}

/// A place in the queue for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The identity that waits.
    pub holder: HolderIdentity,
    /// How long the hold will last without a renewal, once the waiter gets the lease.
    pub ttl: Ttl,
    /// How long the place is kept after the waiter last asked for the lease.
    pub wait: Ttl,
    /// The member and epoch that the hold will end with.
    pub member: Option<(MemberId, Epoch)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_one_to_317_bytes_without_control_characters() {
        assert!(HolderIdentity::parse("host-1_6ba7b810-9dad/11d1").is_ok());
        assert!(HolderIdentity::parse(&"a".repeat(316)).is_ok());
        assert!(HolderIdentity::parse(&"a".repeat(317)).is_ok());
        for bad in ["", "a\nb", &"a".repeat(318)] {
            assert!(HolderIdentity::parse(bad).is_err(), "{bad:?}");
        }
    }
}
