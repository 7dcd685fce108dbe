//! Whether this replica may vote and stand for election.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use openraft::Raft;
use synod_store::{Log, Recovery};

use super::state_machine::StateMachine;
use super::types::TypeConfig;

/// Open, unless recovery had to cut a record off the log that looked complete.
///
/// Such a record may have been acknowledged. A replica that has lost an acknowledged entry must not help to elect a
/// leader that lacks it, so it neither votes nor stands until it has applied everything that a leader says is
/// committed. The log records this on disk, so it outlives restarts.
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

    /// Waits until this replica has applied what a leader said is committed, then lets it vote and stand.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub(super) async fn open_when_caught_up(
        &self,
        raft: &Raft<TypeConfig, StateMachine>,
    ) -> io::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        let mut metrics = raft.metrics();
        let caught_up = metrics.wait_for(|metrics| {
            let committed = metrics.cluster_committed.as_ref();
            committed.is_some() && metrics.last_applied.as_ref() >= committed
        });
        if caught_up.await.is_err() {
            // Raft's task has ended, so there are no elections to vote in.
            return Ok(());
        }
        // The log on disk may still be shorter than in memory. What was lost is covered all the same: this replica's
        // acknowledgement of an entry counts for a commit only once the entry is on its disk again.
        self.log.caught_up()?;
        tracing::info!("caught up with the leader: this replica votes again");
        self.open.store(true, Ordering::Release);
        raft.runtime_config().elect(true);
        Ok(())
    }
}
