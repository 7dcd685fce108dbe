//! What those of a rollout were told, for the checks.

use std::sync::{Arc, Mutex, MutexGuard};

use synod_client::Membership;
use synod_model::{Epoch, ErrorKind, MemberId, Refusal, Revision};

/// What they were told. Clones write to the same one.
#[derive(Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    taken: Vec<Taken>,
    told: Tally,
    /// The memberships that are kept until the world ends.
    kept: Vec<Membership>,
}

/// A statement that was acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub(super) member: MemberId,
    pub(super) epoch: Epoch,
    pub(super) number: u64,
    /// The revision that the answer named.
    pub(super) revision: Revision,
}

/// How often what was told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    taken: usize,
    /// It came after a later one.
    late: usize,
    /// It came after the member had joined anew.
    stale: usize,
    otherwise: usize,
}

impl Tally {
    /// Whether a check of it says anything.
    pub(super) fn is_worth_something(&self) -> bool {
        self.taken > 20 && self.late > 5 && self.stale > 0
    }
}

impl Ledger {
    pub(super) fn take(&self, taken: Taken) {
        let mut pages = self.lock();
        pages.told.taken += 1;
        pages.taken.push(taken);
    }

    pub(super) fn refuse(&self, refusal: &Refusal) {
        let told = &mut self.lock().told;
        *match refusal.kind {
            ErrorKind::Conflict => &mut told.late,
            ErrorKind::StaleEpoch | ErrorKind::NotAMember => &mut told.stale,
            _ => &mut told.otherwise,
        } += 1;
    }

    pub(super) fn keep(&self, membership: Membership) {
        self.lock().kept.push(membership);
    }

    pub(super) fn taken(&self) -> Vec<Taken> {
        self.lock().taken.clone()
    }

    pub(super) fn told(&self) -> Tally {
        self.lock().told
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap()
    }
}
