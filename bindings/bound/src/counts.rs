//! How many handles there are.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many of each there are in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clients.
    pub clients: u64,
    /// Calls that are on their way.
    pub calls: u64,
    /// Results that are waited for, or wait to be taken: watches, locks that were asked for, and the like.
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

/// How many handles and calls there are in this process, for tests that look for leaks.
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

/// What is counted.
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

/// One more, until it is dropped.
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
