//! Counts the live handles and running calls of this process, so that tests can find leaks.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of live things of each kind in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clients.
    pub clients: u64,
    /// Running calls.
    pub calls: u64,
    /// Feeds that are still open: watches, locks that were asked for, and the like.
    pub feeds: u64,
    /// Memberships.
    pub memberships: u64,
    /// Permits.
    pub permits: u64,
    /// Locks.
    pub locks: u64,
    /// Reflectors.
    pub reflectors: u64,
}

/// The number of live handles and running calls in this process, for tests that look for leaks.
#[must_use]
pub fn counts() -> Counts {
    let of = |kind: Counted| LIVE[kind as usize].load(Ordering::SeqCst);
    Counts {
        clients: of(Counted::Client),
        calls: of(Counted::Call),
        feeds: of(Counted::Feed),
        memberships: of(Counted::Membership),
        permits: of(Counted::Permit),
        locks: of(Counted::Lock),
        reflectors: of(Counted::Reflector),
    }
}

/// A kind of thing that is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted {
    Client,
    Call,
    Feed,
    Membership,
    Permit,
    Lock,
    Reflector,
}

static LIVE: [AtomicU64; 7] = [const { AtomicU64::new(0) }; 7];

/// Counts one more of its kind until it is dropped.
#[derive(Debug)]
pub(crate) struct Live(Counted);

impl Live {
    pub(crate) fn new(kind: Counted) -> Self {
        LIVE[kind as usize].fetch_add(1, Ordering::SeqCst);
        Self(kind)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE[self.0 as usize].fetch_sub(1, Ordering::SeqCst);
    }
}
