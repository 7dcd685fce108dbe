//! The store of the servers: which key encrypts each object, and which levels are in use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use synod_client::{ApiVersion, Epoch, GroupResource, MemberId, Permit, Revision};

use super::{key, level};

/// How many objects there are.
pub(super) const OBJECTS: u64 = 20;

/// The store. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    objects: BTreeMap<u64, ApiVersion>,
    /// The keys that encrypt objects, each with a revision at which everybody held it.
    keys: BTreeMap<ApiVersion, Revision>,
    /// The same of levels, whose data stay.
    levels: BTreeMap<ApiVersion, Revision>,
    free: BTreeSet<ApiVersion>,
    is_calm: bool,
    used: Vec<Used>,
    told: Told,
    faults: Vec<String>,
}

/// What a server was permitted.
#[derive(Clone, Debug)]
pub(super) struct Used {
    pub(super) member: MemberId,
    pub(super) epoch: Epoch,
    pub(super) topic: GroupResource,
    pub(super) value: ApiVersion,
    /// A revision at which the member's entry allowed it.
    pub(super) revision: Revision,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    free: u64,
    levels: usize,
    writes: usize,
    /// Writes that landed after their server was gone or had another permit.
    late: usize,
    rewrites: usize,
    /// Reports that were refused since a key or a level was missing.
    refused: usize,
}

impl Told {
    /// Whether enough happened for a check to mean something.
    pub(super) fn is_worth_something(&self) -> bool {
        self.free >= super::KEYS
            && self.levels > 1
            && self.writes > 50
            && self.late > 0
            && self.rewrites > 0
            && self.refused > 0
    }
}

impl Ledger {
    /// A server was permitted to use a value.
    pub(super) fn permitted(&self, member: &MemberId, permit: &Permit) {
        self.lock().used.push(Used {
            member: member.clone(),
            epoch: permit.epoch(),
            topic: permit.resource().clone(),
            value: permit.encoding().clone(),
            revision: permit.revision(),
        });
    }

    /// What servers were permitted.
    pub(super) fn used(&self) -> Vec<Used> {
        self.lock().used.clone()
    }

    /// Stores an object, by a permit of this revision.
    pub(super) fn write(&self, object: u64, key: &ApiVersion, since: Revision, is_late: bool) {
        let mut pages = self.lock();
        pages.told.writes += 1;
        pages.told.late += usize::from(is_late);
        pages.put(object, key, since);
    }

    /// Stores an object anew, if the key is still the one that was read. False: it is not.
    pub(super) fn rewrite(
        &self,
        object: u64,
        read: &ApiVersion,
        key: &ApiVersion,
        since: Revision,
    ) -> bool {
        let mut pages = self.lock();
        let is_same = pages.objects.get(&object) == Some(read);
        if is_same {
            pages.told.rewrites += 1;
            pages.put(object, key, since);
        }
        is_same
    }

    /// All objects, with their keys.
    pub(super) fn objects(&self) -> Vec<(u64, ApiVersion)> {
        let pages = self.lock();
        let objects = pages.objects.iter();
        objects
            .map(|(object, key)| (*object, key.clone()))
            .collect()
    }

    /// A level is used, by a permit of this revision.
    pub(super) fn uses(&self, level: &ApiVersion, since: Revision) {
        let mut pages = self.lock();
        pages.levels.entry(level.clone()).or_insert(since);
        pages.told.levels = pages.levels.len();
    }

    /// What is in use of the keys and of the feature, each with a revision from which on everybody must be able to read it.
    pub(crate) fn in_use(&self) -> [BTreeMap<ApiVersion, Revision>; 2] {
        let pages = self.lock();
        [pages.keys.clone(), pages.levels.clone()]
    }

    /// The number of the oldest key that was not thrown away.
    pub(super) fn oldest(&self) -> u64 {
        self.lock().told.free + 1
    }

    /// It was said that nothing may need the oldest key any more: it is thrown away.
    pub(super) fn throw_away_the_oldest(&self) {
        let mut pages = self.lock();
        pages.told.free += 1;
        let key = key(pages.told.free);
        if pages.keys.contains_key(&key) {
            let fault = format!("{key} is called free, and encrypts objects");
            pages.faults.push(fault);
        }
        pages.free.insert(key);
    }

    /// From now on servers restart in order, and only for the next key.
    pub(super) fn calm_down(&self) {
        self.lock().is_calm = true;
    }

    pub(super) fn is_calm(&self) -> bool {
        self.lock().is_calm
    }

    pub(super) fn refused(&self) {
        self.lock().told.refused += 1;
    }

    /// The highest level that was used.
    pub(super) fn highest(&self) -> u64 {
        let pages = self.lock();
        (1..)
            .take_while(|number| pages.levels.contains_key(&level(*number)))
            .count() as u64
    }

    pub(super) fn told(&self) -> Told {
        self.lock().told
    }

    pub(super) fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap()
    }
}

impl Pages {
    fn put(&mut self, object: u64, key: &ApiVersion, since: Revision) {
        if self.free.contains(key) {
            self.faults.push(format!(
                "{object} is written with {key}, which was thrown away"
            ));
        }
        let before = self.objects.insert(object, key.clone());
        self.keys.entry(key.clone()).or_insert(since);
        if let Some(before) = before
            && !self.objects.values().any(|key| *key == before)
        {
            self.keys.remove(&before);
        }
    }
}
