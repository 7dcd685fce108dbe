//! What is known about damaged checkpoints, and the signal that another one must be written.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What is known about damaged checkpoints. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Damage {
    /// Notified when another checkpoint must be written.
    due: Arc<Notify>,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// Why this replica refused the last checkpoint that a leader sent; `None` if it was whole.
    refused: Option<String>,
    /// The last log index of the checkpoint of this replica that another one refused last.
    was_refused: Option<u64>,
}

impl Damage {
    /// The signal that another checkpoint must be written, for damage or for any other reason.
    pub(super) fn another_is_due(&self) -> Arc<Notify> {
        Arc::clone(&self.due)
    }

    /// Notes that a checkpoint of this replica was put aside, and signals that another one must be written.
    pub(super) fn found(&self, error: &dyn fmt::Display) {
        tracing::error!(%error, "put a damaged checkpoint aside: another one is written");
        self.due.notify_one();
    }

    /// Notes that this replica refused a checkpoint that a leader sent.
    pub(super) fn refused(&self, error: &dyn fmt::Display) {
        tracing::error!(%error, "refused a checkpoint of the leader");
        self.lock().refused = Some(error.to_string());
    }

    /// Notes that a checkpoint that a leader sent was whole.
    pub(super) fn nothing_refused(&self) {
        self.lock().refused = None;
    }

    /// Why this replica refused the last checkpoint that a leader sent; `None` if that was whole.
    pub(super) fn why_refused(&self) -> Option<String> {
        self.lock().refused.clone()
    }

    /// Notes that another replica refused the checkpoint up to `index`. Returns whether the checkpoint refused before
    /// it had the same last index.
    pub(super) fn is_refused_again(&self, index: u64) -> bool {
        self.lock().was_refused.replace(index) == Some(index)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
