//! What readers see: the state after some entry, swapped in one step.

use std::sync::Arc;

use arc_swap::ArcSwap;
use synod_machine::{Applied, State};
use synod_model::Revision;

use super::Position;
use crate::seams::watch;

/// The state after the last entry applied. A reader holds one of these for as long as it reads; nothing in it changes.
#[derive(Clone, Debug)]
pub struct Published {
    /// The state, its history included.
    pub state: State,
    /// The last entry it has applied; `None` before the first.
    pub applied: Option<Position>,
    /// How often a checkpoint from another replica has replaced the state. Between two values of one generation every
    /// revision was applied here; across generations some were skipped.
    pub generation: u64,
}

impl Published {
    /// The index of the last entry applied; 0 also before the first one.
    #[must_use]
    pub fn applied_index(&self) -> u64 {
        self.applied.map_or(0, |position| position.index)
    }

    fn progress(&self) -> Progress {
        Progress {
            applied_index: self.applied_index(),
            revision: self.state.revision(),
            generation: self.generation,
        }
    }
}

/// How far this replica has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The index of the last entry applied; 0 also before the first one.
    pub applied_index: u64,
    /// The store's revision after it.
    pub revision: Revision,
    /// As in [`Published`].
    pub generation: u64,
}

/// One entry as this replica applied it.
#[derive(Clone, Debug)]
pub struct AppliedEntry {
    /// Where it stands in the log.
    pub position: Position,
    /// What it did. Empty for the entries that Raft writes for itself.
    pub applied: Applied,
}

/// The writing end of what readers see. Apply holds it.
#[derive(Clone, Debug)]
pub(crate) struct Publisher {
    latest: Arc<ArcSwap<Published>>,
    progress: watch::Sender<Progress>,
}

impl Publisher {
    pub(crate) fn new(first: Published) -> Self {
        let (progress, _) = watch::channel(first.progress());
        Self {
            latest: Arc::new(ArcSwap::from_pointee(first)),
            progress,
        }
    }

    /// Lets readers see `next`, then wakes those who wait for it. Whoever is answered after this finds the answer's
    /// effects.
    pub(crate) fn publish(&self, next: Published) {
        let progress = next.progress();
        self.latest.store(Arc::new(next));
        self.progress.send(progress);
    }

    pub(crate) fn latest(&self) -> Arc<Published> {
        self.latest.load_full()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }
}
