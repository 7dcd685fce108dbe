//! A damaged checkpoint is put aside, another one is written at once, and an alarm says so until somebody has looked.

use std::fmt;

use synod_store::checkpoint::CheckpointFile;

use super::checkpoints::Checkpoints;
use super::facade::Consensus;

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
        if self.damage.is_refused_again(file.last.index) {
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
        let refused = checkpoints.damage.why_refused()?;
        Some(format!(
            "a checkpoint that the leader sent was refused ({refused}), and the leader writes another one: look at the \
             leader's alarms and log"
        ))
    }
}
