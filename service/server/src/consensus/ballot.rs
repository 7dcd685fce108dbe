//! Whether this replica may vote and stand for election.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use synod_store::{Log, Recovery};

/// Open, unless recovery had to cut a record off the log that looked complete.
///
/// Such a record may have been acknowledged. A replica that has lost an acknowledged entry must not help to elect a
/// leader that lacks it, so it neither votes nor stands until it has applied everything that the leader's log
/// holds. The log records this on disk, so it outlives restarts.
#[derive(Clone)]
pub(super) struct Ballot {
    open: Arc<AtomicBool>,
    log: Log,
}

impl Ballot {
    /// The ballot of the replica whose log had this recovery.
    pub(super) fn new(log: Log, recovery: &Recovery) -> Self {
        if let Some(cut) = recovery.cut.as_ref().filter(|cut| cut.complete_looking) {
            tracing::warn!(
                file = %cut.file.display(), offset = cut.offset, kept = %cut.kept_copy.display(),
                "the log's end was damaged in a way that a lost write does not explain"
            );
        }
        if recovery.must_catch_up {
            tracing::warn!("this replica does not vote before it has caught up with a leader");
        }
        let open = Arc::new(AtomicBool::new(!recovery.must_catch_up));
        Self { open, log }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Lets this replica vote and stand for election, also after a restart. The caller must have made sure that its log lacks
    /// nothing that it may have acknowledged, on the disk as well.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub(super) fn open(&self) -> io::Result<()> {
        self.log.caught_up()?;
        self.open.store(true, Ordering::Release);
        Ok(())
    }
}
