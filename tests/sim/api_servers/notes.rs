//! The answers to the API servers, recorded for the checkers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use synod_model::{Epoch, MemberId, Revision};

use crate::net::Host;

/// The recorded answers. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// The newest revision that any API server has been told.
    newest: Revision,
    acknowledged: usize,
    reads: usize,
    stale: Vec<String>,
    /// The members whose gates were open, with their epochs, since the last step.
    writers: Vec<(MemberId, Epoch)>,
    watches: BTreeMap<Host, WatchLog>,
}

/// The events of one watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchLog {
    /// For each revision, a hash of its events.
    pub(crate) events: Vec<(Revision, u64)>,
    /// The revisions at which the watch began again with a list.
    pub(crate) resyncs: Vec<Revision>,
    /// The revision up to which the watch claims to be complete.
    pub(crate) reached: Revision,
}

impl Notes {
    /// Records that a change was acknowledged at `revision`.
    pub(crate) fn acknowledge(&self, revision: Revision) {
        let mut pages = self.lock();
        pages.acknowledged += 1;
        pages.newest = pages.newest.max(revision);
    }

    /// The revision that a linearizable read which begins now must have seen.
    pub(crate) fn newest(&self) -> Revision {
        self.lock().newest
    }

    /// Records that a linearizable read was answered at `revision` and had to have seen `expected`.
    pub(crate) fn read(&self, expected: Revision, revision: Revision, host: Host) {
        let mut pages = self.lock();
        pages.reads += 1;
        pages.newest = pages.newest.max(revision);
        if revision < expected {
            pages.stale.push(format!(
                "{host} read at {revision} after somebody was told of {expected}"
            ));
        }
    }

    /// The reads that missed a revision.
    pub(crate) fn stale(&self) -> Vec<String> {
        self.lock().stale.clone()
    }

    /// Records that the gate of a member is open.
    pub(crate) fn writes(&self, member: &MemberId, epoch: Epoch) {
        self.lock().writers.push((member.clone(), epoch));
    }

    /// The members whose gates were open since the last call.
    pub(crate) fn take_writers(&self) -> Vec<(MemberId, Epoch)> {
        std::mem::take(&mut self.lock().writers)
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.lock().acknowledged
    }

    pub(crate) fn reads(&self) -> usize {
        self.lock().reads
    }

    /// Updates the log of a host's watch.
    pub(crate) fn watched(&self, host: Host, note: impl FnOnce(&mut WatchLog)) {
        note(self.lock().watches.entry(host).or_default());
    }

    /// The logs of all watches.
    pub(crate) fn watches(&self) -> BTreeMap<Host, WatchLog> {
        self.lock().watches.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap()
    }
}
