//! The store of the servers, what each process may write, and what the operator has handed out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use synod_client::Membership;
use synod_model::{ApiVersion, Epoch, MemberId, Revision, SERVED};

use super::number;
use super::release::Release;
use crate::net::Host;

/// A key, by its number: every rotation brings the next one.
pub(crate) type Key = u64;

/// What all of it share. Clones share it too.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    objects: BTreeMap<usize, Stored>,
    /// The writes that may still land.
    flights: BTreeMap<u64, Pen>,
    /// What the gate of each process lets it write, while it is open.
    pens: BTreeMap<u64, Pen>,
    /// Whether each process shows the version, while its gate is open.
    signs: BTreeMap<u64, Sign>,
    /// The dates that members have named.
    named: Vec<Named>,
    /// A number that is given once.
    numbers: u64,
    rings: BTreeMap<Host, Ring>,
    releases: BTreeMap<Host, Release>,
    last: Option<Key>,
    has_last_release: bool,
    told: Tally,
    /// The memberships that stay until the run ends.
    kept: Vec<Membership>,
}

/// The keys of a server: all from the oldest to the newest, which it would write with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    pub(super) oldest: Key,
    pub(super) newest: Key,
}

impl Ring {
    pub(super) fn keys(self) -> std::ops::RangeInclusive<Key> {
        self.oldest..=self.newest
    }

    /// The keys of both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            oldest: self.oldest.min(other.oldest),
            newest: self.newest.max(other.newest),
        }
    }
}

/// The right to act by a value of a topic, as the gate gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pen {
    pub(crate) member: MemberId,
    pub(crate) epoch: Epoch,
    pub(crate) value: ApiVersion,
    /// At this revision the member's entry allowed it.
    pub(crate) revision: Revision,
}

impl Pen {
    /// The key that it is of.
    pub(crate) fn key(&self) -> Key {
        number(&self.value)
    }
}

/// Whether a process shows the version, and whether it could.
#[derive(Clone, Debug)]
pub(crate) struct Sign {
    pub(crate) pen: Pen,
    /// Whether its release has the code of the version.
    pub(crate) can: bool,
}

impl Sign {
    pub(crate) fn shows(&self) -> bool {
        self.pen.value.as_str() == SERVED
    }
}

/// A date until which a member has promised that the version is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    /// The revision at which that was acknowledged.
    pub(crate) revision: Revision,
    /// The time before it was sent, in simulated milliseconds.
    pub(crate) at: u64,
    /// The date, likewise.
    pub(crate) until: u64,
}

/// An object as it is stored: its key, and the number of the write that stored it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) key: Key,
    write: u64,
}

/// What there is at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// The key of every object.
    pub(crate) stored: Vec<Key>,
    /// The writes that may still land.
    pub(crate) flights: Vec<Pen>,
    /// What processes may write now.
    pub(crate) pens: Vec<Pen>,
    /// What processes show now.
    pub(crate) signs: Vec<Sign>,
    /// The dates that count.
    pub(crate) named: Vec<Named>,
}

/// The number of events of each sort.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(super) written: usize,
    pub(super) rewritten: usize,
    /// Writes of servers that were killed.
    pub(super) late: usize,
    pub(super) killed: usize,
    pub(super) cut_off: usize,
    /// Servers that started with the keys that they had before.
    pub(super) rolled_back: usize,
    /// Reports that were refused since a key is missing.
    pub(super) refused: usize,
    /// Keys that were brought to a process without a restart.
    pub(super) brought: usize,
    /// Keys that the operator threw away.
    pub(super) thrown_away: u64,
    /// Versions whose code was removed.
    pub(super) removed: usize,
}

impl Tally {
    /// Whether enough happened for a check to mean something.
    pub(super) fn is_worth_something(&self) -> bool {
        self.written > 50
            && self.rewritten > 0
            && self.late > 0
            && self.killed > 0
            && self.cut_off > 1
            && self.brought > 1
            && self.thrown_away > 0
            && self.removed > 0
    }
}

impl Ledger {
    /// A number that no other process, write or object has.
    pub(super) fn number(&self) -> u64 {
        self.lock().number()
    }

    pub(super) fn hand_out(&self, host: Host, ring: Ring) {
        self.lock().rings.insert(host, ring);
    }

    /// The keys that the operator has last handed out to a server.
    pub(super) fn ring(&self, host: Host) -> Ring {
        let first = Ring {
            oldest: 1,
            newest: 1,
        };
        self.lock().rings.get(&host).copied().unwrap_or(first)
    }

    /// Records that no key will follow this one.
    pub(super) fn end_with(&self, last: Key) {
        self.lock().last = Some(last);
    }

    pub(super) fn last(&self) -> Option<Key> {
        self.lock().last
    }

    pub(super) fn roll_out(&self, host: Host, release: Release) {
        self.lock().releases.insert(host, release);
    }

    /// The release that a server is to run.
    pub(super) fn release(&self, host: Host) -> Release {
        let releases = &self.lock().releases;
        releases.get(&host).copied().unwrap_or(Release::Without)
    }

    /// Records that no other release will follow.
    pub(super) fn end_releases(&self) {
        self.lock().has_last_release = true;
    }

    /// Whether nothing else will be handed out.
    pub(super) fn is_over(&self) -> bool {
        let pages = self.lock();
        pages.last.is_some() && pages.has_last_release
    }

    /// Records a date that was acknowledged.
    pub(super) fn name(&self, named: Named) {
        self.lock().named.push(named);
    }

    /// Whether somebody shows the version.
    pub(super) fn is_shown(&self) -> bool {
        self.lock().signs.values().any(Sign::shows)
    }

    /// Records what the gate of a process lets it write and show now; `None`: it is closed, or the process is gone.
    pub(super) fn may(&self, process: u64, pen: Option<Pen>, sign: Option<Sign>) {
        let pages = &mut *self.lock();
        match pen {
            Some(pen) => pages.pens.insert(process, pen),
            None => pages.pens.remove(&process),
        };
        match sign {
            Some(sign) => pages.signs.insert(process, sign),
            None => pages.signs.remove(&process),
        };
    }

    /// A write is sent to the store.
    pub(super) fn sends(&self, pen: Pen) -> u64 {
        let mut pages = self.lock();
        let flight = pages.number();
        pages.flights.insert(flight, pen);
        flight
    }

    /// A write arrives. The last one wins: the store compares nothing.
    pub(super) fn lands(&self, flight: u64, object: usize) {
        let mut pages = self.lock();
        let pen = pages.flights.remove(&flight).expect("it was sent once");
        let write = pages.number();
        let stored = Stored {
            key: pen.key(),
            write,
        };
        pages.objects.insert(object, stored);
        pages.told.written += 1;
    }

    pub(super) fn objects(&self) -> Vec<(usize, Stored)> {
        let pages = self.lock();
        let objects = pages.objects.iter();
        objects.map(|(object, stored)| (*object, *stored)).collect()
    }

    /// Stores an object anew if it is as it was read. Returns whether it was.
    pub(super) fn rewrite(&self, object: usize, read: Stored, key: Key) -> bool {
        let mut pages = self.lock();
        let is_same = pages.objects.get(&object) == Some(&read);
        if is_same {
            let write = pages.number();
            pages.objects.insert(object, Stored { key, write });
            pages.told.rewritten += 1;
        }
        is_same
    }

    /// The key of an object that a server with these keys cannot read, if there is one.
    pub(super) fn unreadable(&self, ring: Ring) -> Option<Key> {
        let pages = self.lock();
        let mut keys = pages.objects.values().map(|stored| stored.key);
        keys.find(|key| !ring.keys().contains(key))
    }

    pub(super) fn keep(&self, membership: Membership) {
        self.lock().kept.push(membership);
    }

    pub(super) fn count(&self, event: impl FnOnce(&mut Tally)) {
        event(&mut self.lock().told);
    }

    pub(super) fn told(&self) -> Tally {
        self.lock().told
    }

    pub(crate) fn scene(&self) -> Scene {
        let pages = self.lock();
        Scene {
            stored: pages.objects.values().map(|stored| stored.key).collect(),
            flights: pages.flights.values().cloned().collect(),
            pens: pages.pens.values().cloned().collect(),
            signs: pages.signs.values().cloned().collect(),
            named: pages.named.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap()
    }
}

impl Pages {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}
