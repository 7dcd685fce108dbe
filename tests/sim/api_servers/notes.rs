//! What the API servers were told, for the checkers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use synod_model::Revision;

use crate::net::Host;

/// What the API servers were told. Clones write to the same one.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// The newest revision that anybody was told of.
    newest: Revision,
    acknowledged: usize,
    reads: usize,
    stale: Vec<String>,
    watches: BTreeMap<Host, WatchLog>,
}

/// What one watch delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchLog {
    /// By revision: a print of its events.
    pub(crate) events: Vec<(Revision, u64)>,
    /// The revisions at which it began anew, with a list.
    pub(crate) resyncs: Vec<Revision>,
    /// Up to where nothing was missed.
    pub(crate) reached: Revision,
}

impl Notes {
    /// A change was acknowledged at `revision`.
    pub(crate) fn acknowledge(&self, revision: Revision) {
        let mut pages = self.lock();
        pages.acknowledged += 1;
        pages.newest = pages.newest.max(revision);
    }

    /// What a linearizable read that is asked for now must have seen.
    pub(crate) fn newest(&self) -> Revision {
        self.lock().newest
    }

    /// A linearizable read was answered at `revision`, and had to see `expected`.
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

    /// The first reads that missed something.
    pub(crate) fn stale(&self) -> Vec<String> {
        self.lock().stale.clone()
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.lock().acknowledged
    }

    pub(crate) fn reads(&self) -> usize {
        self.lock().reads
    }

    /// Writes to the log of a host's watch.
    pub(crate) fn watched(&self, host: Host, note: impl FnOnce(&mut WatchLog)) {
        note(self.lock().watches.entry(host).or_default());
    }

    /// What all watches delivered.
    pub(crate) fn watches(&self) -> BTreeMap<Host, WatchLog> {
        self.lock().watches.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap()
    }
}
