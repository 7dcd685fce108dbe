//! The answers to users of objects and leases, recorded for the checkers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use synod_model::{LeaseKey, Revision};

use super::history::{Call, Told};

/// The recorded answers. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// The newest revision that any user has been told.
    newest: Revision,
    value: u64,
    calls: Vec<Call>,
    trees: Vec<Tree>,
    /// The holder that got each token of a lease.
    given: BTreeMap<(LeaseKey, Revision), String>,
    waited: usize,
    /// The tokens that holders acted under since the last step.
    acts: Vec<(LeaseKey, Revision)>,
    acted: usize,
}

/// An owner, and its dependents.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The prefix of all their names.
    pub(super) prefix: String,
    /// Whether its deletion was acknowledged with no create of a dependent still in flight.
    pub(super) is_gone: bool,
}

/// The number of calls with each result, and of other events.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    done: usize,
    seen: usize,
    lost: usize,
    not_stored: usize,
    unknown: usize,
    trees: usize,
    given: usize,
    waited: usize,
    acted: usize,
}

impl Tally {
    /// Whether enough happened for a check to mean something.
    pub(super) fn is_worth_something(&self) -> bool {
        self.done > 20
            && self.seen > 10
            && self.trees > 0
            && self.given > 3
            && self.waited > 0
            && self.acted > 10
    }
}

impl Ledger {
    /// The revision that later answers must not be older than.
    pub(super) fn newest(&self) -> Revision {
        self.lock().newest
    }

    /// A value that is written only once.
    pub(super) fn value(&self) -> u64 {
        let mut pages = self.lock();
        pages.value += 1;
        pages.value
    }

    /// Records a call that has ended.
    pub(super) fn note(&self, call: Call) {
        let mut pages = self.lock();
        if let Told::Done(revision) | Told::Seen(revision, _) = call.told {
            pages.newest = pages.newest.max(revision);
        }
        pages.calls.push(call);
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    pub(super) fn note_tree(&self, tree: Tree) {
        self.lock().trees.push(tree);
    }

    pub(super) fn trees(&self) -> Vec<Tree> {
        self.lock().trees.clone()
    }

    /// Records that a holder got a lease, and whether it had waited.
    pub(super) fn give(&self, key: &LeaseKey, token: Revision, holder: String, waited: bool) {
        let mut pages = self.lock();
        pages.waited += usize::from(waited);
        let other = pages.given.insert((key.clone(), token), holder);
        assert_eq!(other, None, "one token of {key} was given twice");
    }

    pub(super) fn given(&self) -> BTreeMap<(LeaseKey, Revision), String> {
        self.lock().given.clone()
    }

    /// Records that a holder acts under a token now, because its client says that it may.
    pub(super) fn act(&self, key: &LeaseKey, token: Revision) {
        let mut pages = self.lock();
        pages.acted += 1;
        pages.acts.push((key.clone(), token));
    }

    /// The actions since the last call of this function.
    pub(crate) fn take_acts(&self) -> Vec<(LeaseKey, Revision)> {
        std::mem::take(&mut self.lock().acts)
    }

    pub(super) fn told(&self) -> Tally {
        let pages = self.lock();
        let mut tally = Tally {
            trees: pages.trees.iter().filter(|tree| tree.is_gone).count(),
            given: pages.given.len(),
            waited: pages.waited,
            acted: pages.acted,
            ..Tally::default()
        };
        for call in &pages.calls {
            *match call.told {
                Told::Done(_) => &mut tally.done,
                Told::Seen(..) => &mut tally.seen,
                Told::Lost => &mut tally.lost,
                Told::NotStored => &mut tally.not_stored,
                Told::Unknown => &mut tally.unknown,
            } += 1;
        }
        tally
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap()
    }
}
