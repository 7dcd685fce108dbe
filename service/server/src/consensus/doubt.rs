//! Whether the replicas' states or logs contradict each other, and the reason given when writes are refused for it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use synod_store::DoubtFile;

use super::ReplicaId;

/// Whether the replicas are known to differ while no one can tell which one is right. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Doubt(Arc<Causes>);

#[derive(Debug)]
struct Causes {
    /// The digests of one log differ, and no majority agrees.
    states: AtomicBool,
    /// Whether they do, as the disk has it.
    file: DoubtFile,
    /// The committed logs themselves differ. No majority can repair that: it stays until the process ends.
    logs: AtomicBool,
}

impl Doubt {
    /// What this replica knew when it ended.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub(super) fn open(file: DoubtFile) -> io::Result<Self> {
        let states = file.is_raised()?;
        if states {
            tracing::error!(
                "before this replica was started, the replicas' states differed and no majority agreed: writes are refused"
            );
        }
        Ok(Self(Arc::new(Causes {
            states: AtomicBool::new(states),
            file,
            logs: AtomicBool::new(false),
        })))
    }

    /// Why writes are refused, and what to do; `None` while all is well.
    pub(super) fn reason(&self) -> Option<&'static str> {
        if self.0.logs.load(Ordering::Acquire) {
            Some(
                "another replica has committed entries that this one lacks, or has others in their place, so writes are \
                 refused: data directories went back in time; keep all of them, find out which are old, replace those \
                 (`synod cluster replace`) and start the replicas again",
            )
        } else if self.0.states.load(Ordering::Acquire) {
            Some(
                "the replicas' states differ and no majority agrees, so writes are refused until a majority agrees \
                 again: start the replicas that do not run; if that does not help, keep all data directories, find out \
                 which replica's memory or disk is faulty, let another one lead (`synod cluster transfer-leader`), and \
                 replace the faulty one (`synod cluster replace`)",
            )
        } else {
            None
        }
    }

    /// Notes that the log of `replica` has other committed entries than this one.
    pub(super) fn histories_parted(&self, replica: ReplicaId) {
        if !self.0.logs.swap(true, Ordering::AcqRel) {
            tracing::error!(%replica, "a replica has other committed entries than this one: writes are refused");
        }
    }

    /// Notes whether the digests differ without a majority that agrees. It counts at once, and on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When the disk fails. It is noted in memory all the same.
    pub(super) fn set(&self, raised: bool) -> io::Result<()> {
        let before = self.0.states.swap(raised, Ordering::AcqRel);
        if before == raised {
            return Ok(());
        }
        if raised {
            tracing::error!(
                "the replicas' states differ and no majority agrees: writes are refused"
            );
        } else {
            tracing::warn!("a majority of the replicas agrees again");
        }
        Ok(self.0.file.set(raised)?)
    }
}
