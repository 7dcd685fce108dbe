//! The answers to the participants of a rollout, recorded for the checks.

use std::sync::{Arc, Mutex, MutexGuard};

use synod_client::Membership;
use synod_model::{Epoch, ErrorKind, MemberId, Refusal, Revision};

/// The recorded answers. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    taken: Vec<Taken>,
    told: Tally,
    /// The memberships that stay until the run ends.
    kept: Vec<Membership>,
}

/// A statement that was acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub(super) member: MemberId,
    pub(super) epoch: Epoch,
    pub(super) number: u64,
    /// The revision in the answer.
    pub(super) revision: Revision,
}

/// The number of statements with each answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    taken: usize,
    /// Refused since a later statement had arrived before.
    late: usize,
    /// Refused since the member had joined again, or was gone.
    stale: usize,
    otherwise: usize,
}

impl Tally {
    /// Whether enough happened for a check to mean something.
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
