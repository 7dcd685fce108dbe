//! The digests of the state at fixed log indexes, which replicas compare.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use synod_machine::{Digest, State};

use super::Position;
use crate::limits::DIGESTS_KEPT_MAX;

/// A digest is kept after every this many entries: at the same indexes on every replica, so that they can be compared.
const EVERY: u64 = 256;

/// The latest digests. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Digests(Arc<Mutex<VecDeque<(Position, Digest)>>>);

impl Digests {
    /// Keeps the digest of the state after `position`, if digests are kept at its index.
    pub(super) fn note(&self, position: Position, state: &State) {
        if !position.index.is_multiple_of(EVERY) {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == DIGESTS_KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((position, state.digest()));
    }

    /// The digest after `index`, if it is kept.
    pub(super) fn at(&self, index: u64) -> Option<(Position, Digest)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .find(|(position, _)| position.index == index)
            .copied()
    }

    /// All that are kept, oldest first.
    pub(super) fn all(&self) -> Vec<(Position, Digest)> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .copied()
            .collect()
    }
}
