//! A permit to write one object.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use synod_model::{ApiVersion, Epoch, GroupResource, Revision};

use super::GateParts;
use super::grant::Grant;
use super::obstacle::Refused;
use crate::Error;

/// A permit to write objects of one resource in one encoding, under one epoch. All clones are the same permit.
///
/// Use it in this order: encode in [`encoding`](Self::encoding); call [`check`](Self::check) right before the store is
/// called; call the store; then call [`done`](Self::done) when the store has answered, or
/// [`unknown_outcome`](Self::unknown_outcome) when it has not, which holds the permit for the setting `write_grace`.
///
/// If the last clone is dropped without either call, the outcome counts as unknown if a check has ever passed. If none
/// has, nothing can have been sent, and the permit is simply given back.
#[derive(Clone)]
pub struct Permit {
    inner: Arc<Inner>,
}

struct Inner {
    gate: Arc<GateParts>,
    grant: Grant,
    stage: AtomicU8,
}

/// No check has passed: nothing was sent.
const FRESH: u8 = 0;
/// A check has passed: something may have been sent.
const CHECKED: u8 = 1;
/// The permit was given back.
const SETTLED: u8 = 2;

impl Permit {
    pub(super) fn new(gate: Arc<GateParts>, grant: Grant) -> Self {
        Self {
            inner: Arc::new(Inner {
                gate,
                grant,
                stage: AtomicU8::new(FRESH),
            }),
        }
    }

    /// The resource that may be written, by the name under which it was reported.
    #[must_use]
    pub fn resource(&self) -> &GroupResource {
        &self.inner.grant.resource
    }

    /// The version in which to encode.
    #[must_use]
    pub fn encoding(&self) -> &ApiVersion {
        &self.inner.grant.encoding
    }

    /// The epoch that the permit belongs to.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.inner.grant.epoch
    }

    /// A revision of the cluster at which the member's entry allowed the encoding: the newest that the gate knew of
    /// when it gave the permit. Recorded beside a write, it allows the write to be compared with the history later.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.inner.grant.revision
    }

    /// Whether the write may be sent to the store now. Call this right before the store: the membership may have been
    /// lost, or another version selected, since the permit was given.
    ///
    /// # Errors
    ///
    /// Nothing may be sent under this permit. `NOT_A_MEMBER`: its epoch is over or cannot be proved; a permit of a new
    /// epoch is needed. `STALE_EPOCH`: the server was replaced. `ENCODING_NOT_SELECTED`: take a new permit and encode
    /// again. `INVALID_ARGUMENT`: the permit was given back already.
    pub fn check(&self) -> Result<(), Error> {
        let Inner { gate, grant, stage } = &*self.inner;
        let checked = {
            let book = gate.book();
            if stage.load(Ordering::Acquire) == SETTLED {
                Err(Refused::Settled)
            } else {
                // Marked under the book's lock, so that no task sees the gate drained between the check and the mark.
                let checked = book.check(grant, gate.clock.now());
                if checked.is_ok() {
                    let _ =
                        stage.compare_exchange(FRESH, CHECKED, Ordering::AcqRel, Ordering::Acquire);
                }
                checked
            }
        };
        checked.map_err(|refused| refused.error(grant))
    }

    /// The store has answered, or was never called: no write under this permit can land any more.
    pub fn done(&self) {
        self.inner.settle(false);
    }

    /// The store was called and has not answered: the write may still land. The permit is held for `write_grace` more.
    pub fn unknown_outcome(&self) {
        self.inner.settle(true);
    }
}

impl Inner {
    /// Gives the permit back, unless that was done already.
    fn settle(&self, unknown: bool) {
        let now = self.gate.clock.now();
        {
            let mut book = self.gate.book();
            if self.stage.swap(SETTLED, Ordering::AcqRel) == SETTLED {
                return;
            }
            book.give_back(&self.grant, unknown, now);
        }
        self.gate.released.notify_waiters();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let unknown = self.stage.load(Ordering::Acquire) == CHECKED;
        self.settle(unknown);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("resource", self.resource())
            .field("encoding", self.encoding())
            .field("epoch", &self.epoch())
            .finish_non_exhaustive()
    }
}
