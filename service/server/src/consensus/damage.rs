//! What is known of damaged checkpoints, and who is told that another one must be written.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// What is known of damaged checkpoints. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Damage {
    /// Told when another checkpoint must be written.
    due: Arc<Notify>,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// Why this replica refused the last checkpoint that a leader sent.
    refused: Option<String>,
    /// Up to where the last one reached that another replica refused.
    was_refused: Option<u64>,
}

impl Damage {
    /// What is told when another checkpoint must be written, for this reason or any other.
    pub(super) fn another_is_due(&self) -> Arc<Notify> {
        Arc::clone(&self.due)
    }

    /// A checkpoint of this replica was put aside.
    pub(super) fn found(&self, error: &dyn fmt::Display) {
        tracing::error!(%error, "put a damaged checkpoint aside: another one is written");
        self.due.notify_one();
    }

    /// This replica refused what a leader sent.
    pub(super) fn refused(&self, error: &dyn fmt::Display) {
        tracing::error!(%error, "refused a checkpoint of the leader");
        self.lock().refused = Some(error.to_string());
    }

    /// A checkpoint of a leader was whole.
    pub(super) fn nothing_refused(&self) {
        self.lock().refused = None;
    }

    /// Why this replica refused the last checkpoint that a leader sent; `None` if that was whole.
    pub(super) fn why_refused(&self) -> Option<String> {
        self.lock().refused.clone()
    }

    /// Takes note that another replica refused the checkpoint that reaches up to `index`. Whether the last one that was
    /// refused reached as far.
    pub(super) fn is_refused_again(&self, index: u64) -> bool {
        self.lock().was_refused.replace(index) == Some(index)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
