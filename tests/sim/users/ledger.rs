//! What users of objects and leases were told, for the checkers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use synod_model::{LeaseKey, Revision};

use super::history::{Call, Told};

/// What users were told. Clones write to the same one.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// The newest revision that anybody was told of.
    newest: Revision,
    value: u64,
    calls: Vec<Call>,
    trees: Vec<Tree>,
    /// Who got which token of a lease.
    given: BTreeMap<(LeaseKey, Revision), String>,
    waited: usize,
    /// The tokens that were acted under since the last step.
    acts: Vec<(LeaseKey, Revision)>,
    acted: usize,
}

/// An owner, and what hangs on it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// How the names of all of them begin.
    pub(super) prefix: String,
    /// Whether its deletion was acknowledged, and nothing was under way then that could add to it.
    pub(super) is_gone: bool,
}

/// How much was done.
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
    /// Whether a check of it says anything.
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
    /// What is asked for from now on must not be older than this.
    pub(super) fn newest(&self) -> Revision {
        self.lock().newest
    }

    /// A value that nobody else writes.
    pub(super) fn value(&self) -> u64 {
        let mut pages = self.lock();
        pages.value += 1;
        pages.value
    }

    /// A call has ended.
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

    /// A lease was given to a holder, who had waited for it or not.
    pub(super) fn give(&self, key: &LeaseKey, token: Revision, holder: String, waited: bool) {
        let mut pages = self.lock();
        pages.waited += usize::from(waited);
        let other = pages.given.insert((key.clone(), token), holder);
        assert_eq!(other, None, "one token of {key} was given twice");
    }

    pub(super) fn given(&self) -> BTreeMap<(LeaseKey, Revision), String> {
        self.lock().given.clone()
    }

    /// Somebody acts under a token right now, since its client says that it may.
    pub(super) fn act(&self, key: &LeaseKey, token: Revision) {
        let mut pages = self.lock();
        pages.acted += 1;
        pages.acts.push((key.clone(), token));
    }

    /// Who has acted since the last time this was asked.
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
