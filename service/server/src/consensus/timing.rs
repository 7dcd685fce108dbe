//! How long things take that no request waits for, told to whoever measures.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::ReplicaId;

/// What took its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// A checkpoint was written, verified state and all, while others went on.
    CheckpointWritten,
    /// A checkpoint of a leader took the place of the state. This replica applies nothing meanwhile.
    CheckpointInstalled,
    /// A replica answered something that it has in memory: the way there and back.
    PeerAnswered(ReplicaId),
}

type TimingListener = Box<dyn Fn(Timed, Duration) + Send + Sync>;

/// Where it is told. Clones share the one who is told, if there is one.
#[derive(Clone, Default)]
pub(super) struct Timing(Arc<OnceLock<TimingListener>>);

impl Timing {
    /// From now on `told` is. Only the first one ever is.
    pub(super) fn tell(&self, told: TimingListener) {
        // A second one would measure what the first one measures.
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
