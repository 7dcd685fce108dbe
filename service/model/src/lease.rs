//! A lease: something that one holder at a time has, for as long as it renews.

use std::sync::Arc;

use crate::limits::HOLDER_BYTES_MAX;
use crate::text::{shared_text, short_identity};
use crate::{Epoch, FencingToken, LeaseKey, MemberId, Metadata, Ticket, Ttl, Violation, WallTime};

/// Who holds a lease or wants to: a text that no other process has at the same time.
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
            let rule = "must name who holds, as no other process is named at the same time";
            return Err(Violation::required(rule));
        }
        short_identity(text, HOLDER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }

    /// What stands before every identity in the order, and is none itself.
    #[must_use]
    pub fn before_all() -> Self {
        Self("".into())
    }
}

shared_text!(HolderIdentity);

/// A lease, as everyone may see it.
///
/// Its deadline and its queue are not part of it: renewals and waiters change nothing here, so the
/// same resource version is always the same lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its namespace and name.
    pub key: LeaseKey,
    /// Who has it; `None` while it is free.
    pub hold: Option<Hold>,
    /// How often it was given to somebody after the first time.
    pub transitions: u64,
    /// The candidate who should have it, where that is another one than who has it.
    pub preferred: Option<HolderIdentity>,
    /// Uid, revisions and times.
    pub metadata: Metadata,
}

/// That somebody has a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Who.
    pub holder: HolderIdentity,
    /// The revision of the command that gave it to this holder: its fencing token.
    pub token: FencingToken,
    /// The place in the queue that it was given to, if the holder had waited.
    pub ticket: Option<Ticket>,
    /// How long the hold lasts without a renewal.
    pub ttl: Ttl,
    /// The member whose epoch it ends with, if the holder said one.
    pub member: Option<(MemberId, Epoch)>,
    /// When it was given, for people.
    pub acquired: WallTime,
}

/// A place in the queue for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Who waits.
    pub holder: HolderIdentity,
    /// How long a hold shall last without a renewal, once it is this one's turn.
    pub ttl: Ttl,
    /// How long the place is kept after it was last asked for.
    pub wait: Ttl,
    /// The member whose epoch the hold shall end with.
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
