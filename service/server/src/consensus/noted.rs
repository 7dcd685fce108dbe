//! Replicas of which something was noted, until it is acted upon.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::ReplicaId;

/// A set of replicas that one task takes and others add to.
#[derive(Debug, Default)]
pub(super) struct Noted {
    replicas: Mutex<BTreeSet<ReplicaId>>,
    more: Notify,
}

impl Noted {
    /// Adds a replica. Returns at once.
    pub(super) fn note(&self, replica: ReplicaId) {
        self.lock().insert(replica);
        self.more.notify_one();
    }

    /// Waits until there are replicas, and takes them: never none.
    pub(super) async fn take(&self) -> BTreeSet<ReplicaId> {
        loop {
            self.more.notified().await;
            // The notice may be of a replica that was taken before it was given.
            let taken = mem::take(&mut *self.lock());
            if !taken.is_empty() {
                return taken;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<ReplicaId>> {
        self.replicas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
