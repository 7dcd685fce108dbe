//! Puts a damaged checkpoint aside and has another one written. An alarm reports it until an operator removes the file.

use std::fmt;

use synod_store::checkpoint::CheckpointFile;

use super::checkpoints::Checkpoints;
use super::facade::Consensus;

impl Checkpoints {
    /// Puts aside a checkpoint that could not be read to its end, and has another one written.
    pub(super) fn cannot_be_read(&self, file: &CheckpointFile, error: &dyn fmt::Display) {
        match self.store.put_aside(file) {
            Ok(true) => self.damage.found(error),
            // A newer checkpoint has replaced it.
            Ok(false) => {
                tracing::warn!(%error, "a checkpoint that was superseded could not be sent")
            }
            Err(refused) => {
                tracing::error!(%error, %refused, "cannot put a damaged checkpoint aside")
            }
        }
    }

    /// Replaces a checkpoint that another replica refused. Once for each position: if the replacement is refused too,
    /// the reason is one that further ones would share.
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
