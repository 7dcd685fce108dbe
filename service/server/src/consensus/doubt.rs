//! Whether the replicas' states or logs contradict each other, and the reason given when writes are refused for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ReplicaId;

/// Whether the replicas are known to differ while no one can tell which one is right. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt(Arc<Causes>);

#[derive(Debug, Default)]
struct Causes {
    /// The digests of one log differ, and no majority agrees.
    states: AtomicBool,
    /// The committed logs themselves differ. No majority can repair that: it stays until the process ends.
    logs: AtomicBool,
}

impl Doubt {
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
                 again: keep all data directories, and find out which replica's memory or disk is faulty",
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

    /// Notes whether the digests differ without a majority that agrees.
    pub(super) fn set(&self, raised: bool) {
        let before = self.0.states.swap(raised, Ordering::AcqRel);
        if raised && !before {
            tracing::error!(
                "the replicas' states differ and no majority agrees: writes are refused"
            );
        } else if before && !raised {
            tracing::warn!("a majority of the replicas agrees again");
        }
    }
}
