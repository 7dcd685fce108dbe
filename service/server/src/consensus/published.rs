//! The state that readers see: a snapshot after each step of apply, swapped in atomically.

use std::sync::Arc;

use arc_swap::ArcSwap;
use synod_machine::{Applied, State};
use synod_model::Revision;
use tokio::time::Instant;

use super::Position;
use crate::seams::watch;

/// The state after the last applied entry. Immutable: a reader keeps one for as long as it reads.
#[derive(Clone, Debug)]
pub struct Published {
    /// The state, its history included.
    pub state: State,
    /// The last applied entry; `None` before the first.
    pub applied: Option<Position>,
    /// How often a checkpoint from another replica has replaced the state. Between two values of one generation this
    /// replica applied every revision itself; across generations it skipped some.
    pub generation: u64,
}

impl Published {
    /// The index of the last applied entry; also 0 before the first one.
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

/// The progress of this replica's apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The index of the last applied entry; also 0 before the first one.
    pub applied_index: u64,
    /// The store's revision after that entry.
    pub revision: Revision,
    /// See [`Published::generation`].
    pub generation: u64,
}

/// One entry as this replica applied it.
#[derive(Clone, Debug)]
pub struct AppliedEntry {
    /// The entry's position in the log.
    pub position: Position,
    /// The outcomes and events. Empty for entries that Raft writes for itself.
    pub applied: Applied,
    /// When its apply began; `None` where no traces are made.
    pub apply_began: Option<Instant>,
}

/// The writing end of the published state, which apply holds.
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

    /// Replaces the published state by `next`, then wakes its subscribers. A caller that is answered after this finds
    /// the effects of its entry in the published state.
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
