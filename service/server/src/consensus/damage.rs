//! A damaged checkpoint is put aside, another one is written at once, and an alarm says so until somebody has looked.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_store::checkpoint::CheckpointFile;
use tokio::sync::Notify;

use super::checkpoints::Checkpoints;
use super::facade::Consensus;

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

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpoints {
    /// Puts a checkpoint aside that could not be read to its end, and has another one written.
    pub(super) fn cannot_be_read(&self, file: &CheckpointFile, error: &dyn fmt::Display) {
        match self.store.put_aside(file) {
            Ok(true) => self.damage.found(error),
            // Another one has taken its place by now.
            Ok(false) => {
                tracing::warn!(%error, "a checkpoint that was superseded could not be sent")
            }
            Err(refused) => {
                tracing::error!(%error, %refused, "cannot put a damaged checkpoint aside")
            }
        }
    }

    /// Has another checkpoint written in the place of one that another replica refused. Once for each position: what is
    /// refused again is refused for a reason that the next one would have, too.
    pub(super) fn was_refused(&self, file: &CheckpointFile, said: &str) {
        let before = self.damage.lock().was_refused.replace(file.last.index);
        if before == Some(file.last.index) {
            tracing::error!(%said, file = %file.path.display(), "another replica refuses this checkpoint again");
        } else {
            self.cannot_be_read(file, &format_args!("another replica refused it: {said}"));
        }
    }
}

impl Consensus {
    /// What is wrong with a checkpoint of this replica, or with the last one that a leader sent it, and what to do.
    #[must_use]
    pub fn damaged_checkpoint(&self) -> Option<String> {
        let checkpoints = &self.shared.checkpoints;
        if let Some(aside) = checkpoints.store.aside() {
            let next = if checkpoints.store.awaits_another() {
                "another one is being written in its place"
            } else {
                "another one took its place"
            };
            return Some(format!(
                "a checkpoint failed its check and was put aside as {}; {next}: check the disk and the memory, and remove \
                 the file to end this alarm",
                aside.display()
            ));
        }
        let refused = checkpoints.damage.lock().refused.clone()?;
        Some(format!(
            "a checkpoint that the leader sent was refused ({refused}), and the leader writes another one: look at the \
             leader's alarms and log"
        ))
    }
}
