//! What must be done now and then, away from the path of a write.

use super::names;
use super::shared::Shared;
use crate::failure::IoFailure;

impl Shared {
    /// Removes purged segments, then prepares a spare one if it is due.
    pub(super) fn housekeep(&self) -> Result<(), IoFailure> {
        self.remove_purged()?;
        self.prepare_spare()
    }

    fn remove_purged(&self) -> Result<(), IoFailure> {
        let Some(purged) = self.lock().purge_due.take() else {
            return Ok(());
        };
        let paths = self.lock_io().appender.take_purged(purged.index);
        if paths.is_empty() {
            return Ok(());
        }
        // Oldest first: whenever the power fails, what is left is without a gap.
        for path in &paths {
            self.disk
                .remove(path)
                .map_err(IoFailure::while_doing("remove", path))?;
        }
        self.disk
            .sync_directory(&self.directory)
            .map_err(IoFailure::while_doing("sync directory", &self.directory))
    }

    fn prepare_spare(&self) -> Result<(), IoFailure> {
        if !std::mem::take(&mut self.lock().spare_due) {
            return Ok(());
        }
        // Without the lock, since this takes long; a flush that rolls meanwhile makes its own file.
        let path = self.directory.join(names::SPARE);
        let capacity = self.config.segment_bytes;
        let file = self
            .disk
            .create(&path, capacity)
            .map_err(IoFailure::while_doing("allocate", &path))?;
        file.sync_data()
            .map_err(IoFailure::while_doing("sync", &path))?;
        self.lock_io().appender.put_spare(file, capacity);
        Ok(())
    }
}
