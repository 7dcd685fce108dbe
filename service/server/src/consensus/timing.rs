//! Measures how long background work takes, such as checkpoints and digests, and tells a listener.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::ReplicaId;

/// The action that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// A checkpoint was written, its digest verified included, while apply continued.
    CheckpointWritten,
    /// A leader's checkpoint replaced the state. This replica applies no entries meanwhile.
    CheckpointInstalled,
    /// A replica answered a question for a digest, which it has in memory: the round-trip time.
    PeerAnswered(ReplicaId),
}

type TimingListener = Box<dyn Fn(Timed, Duration) + Send + Sync>;

/// The listener, if one is registered. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Timing(Arc<OnceLock<TimingListener>>);

impl Timing {
    /// Registers the listener. Only the first one registered is ever called.
    pub(super) fn tell(&self, told: TimingListener) {
        // A second listener is dropped: it would measure the same.
        let _ = self.0.set(told);
    }

    pub(super) fn took(&self, what: Timed, duration: Duration) {
        if let Some(told) = self.0.get() {
            told(what, duration);
        }
    }
}

impl fmt::Debug for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timing").finish_non_exhaustive()
    }
}
