//! Housekeeping of the log away from the path of a write: removal of segments, and the spare one.

use super::appender::Unborn;
use super::must_catch_up::LostEnd;
use super::shared::LogParts;
use super::{must_catch_up, names};
use crate::failure::IoFailure;
use crate::replace::remove_if_there;

impl LogParts {
    /// Removes purged segments, then prepares a spare if it is due.
    pub(super) fn housekeep(&self) -> Result<(), IoFailure> {
        let outcome = self.remove_purged().and_then(|()| self.prepare_spare());
        self.lock().chore_failure = outcome.as_ref().err().map(ToString::to_string);
        outcome
    }

    /// Writes down what the end that was cut off held at most.
    pub(super) fn note_lost_end(&self, lost: LostEnd) -> Result<(), IoFailure> {
        must_catch_up::write(&*self.disk, &self.directory, lost)
    }

    /// Removes the `MUST-CATCH-UP` file, if it exists.
    pub(super) fn forget_must_catch_up(&self) -> Result<(), IoFailure> {
        remove_if_there(&*self.disk, &self.directory.join(names::MUST_CATCH_UP))?;
        self.sync_directory()
    }

    fn remove_purged(&self) -> Result<(), IoFailure> {
        let Some(purged) = self.lock().purge_due.take() else {
            return Ok(());
        };
        let Some(kept_from) = self.lock_io().appender.forget_purged(purged.index) else {
            return Ok(());
        };
        // A read under way holds its file, and no later read can ask for these segments.
        self.lock().files.retain(|segment, _| *segment >= kept_from);
        let names = self
            .disk
            .list(&self.directory)
            .map_err(IoFailure::while_doing("list", &self.directory))?;
        // Copies of torn ends are removed with their segment, so that they do not accumulate.
        let segment_of = |name: &&String| {
            names::parse_segment(name)
                .or_else(|| names::parse_broken(name))
                .is_some_and(|segment| segment < kept_from)
        };
        for name in names.iter().filter(segment_of) {
            let path = self.directory.join(name);
            self.disk
                .remove(&path)
                .map_err(IoFailure::while_doing("remove", &path))?;
        }
        self.sync_directory()
    }

    fn prepare_spare(&self) -> Result<(), IoFailure> {
        self.lock().spare_due = false;
        let Some(path) = self.lock_io().appender.begin_spare() else {
            return Ok(());
        };
        // Without a lock, because this takes long.
        let made = Unborn::create(&*self.disk, path.clone(), self.config.segment_bytes);
        let synced = made.and_then(|spare| {
            let synced = spare.file.sync_data();
            synced.map_err(IoFailure::while_doing("sync", &path))?;
            Ok(spare)
        });
        match synced {
            Ok(spare) => {
                self.lock_io().appender.put_spare(spare);
                Ok(())
            }
            Err(failure) => {
                // The unfinished file may be what fills the disk.
                remove_if_there(&*self.disk, &path)?;
                Err(failure)
            }
        }
    }

    fn sync_directory(&self) -> Result<(), IoFailure> {
        self.disk
            .sync_directory(&self.directory)
            .map_err(IoFailure::while_doing("sync directory", &self.directory))
    }
}
