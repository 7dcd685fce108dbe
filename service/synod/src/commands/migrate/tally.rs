//! What one worker has done at one migration.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use synod_apiserver::Resource;
use synod_client::{Migration, Worked};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::metrics::Metrics;

/// What one worker has done at one migration. Each object is counted once, when nothing is left to do for it.
pub(super) struct Tally {
    pub(super) migration: String,
    pub(super) target: String,
    /// The version in which objects are read and written.
    pub(super) through: String,
    /// The full name of the resource, as Kubernetes writes it.
    resource: String,
    begun: AtomicBool,
    rewritten: AtomicU64,
    /// Objects that others wrote or deleted meanwhile.
    skipped: AtomicU64,
    bytes: AtomicU64,
    /// Objects that are still to be seen, as far as the API server says.
    remaining: Mutex<Option<u64>>,
    /// The last thing that went wrong.
    fault: Mutex<Option<String>>,
    since: Instant,
    metrics: Metrics,
    pub(super) changed: Notify,
}

/// A moment of a [`Tally`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) rewritten: u64,
    pub(super) skipped: u64,
    pub(super) bytes: u64,
    pub(super) remaining: Option<u64>,
    pub(super) fault: Option<String>,
    pub(super) per_second: f64,
}

impl Tally {
    pub(super) fn new(migration: &Migration, found: &Resource, metrics: Metrics) -> Self {
        Self {
            migration: migration.id.to_string(),
            target: migration.target.to_string(),
            through: found.api_version(),
            resource: format!(
                "{}/{}, Resource={}",
                found.group, found.version, found.plural
            ),
            begun: AtomicBool::new(false),
            rewritten: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            remaining: Mutex::new(None),
            fault: Mutex::new(None),
            since: Instant::now(),
            metrics,
            changed: Notify::new(),
        }
    }

    /// Whether this is the first page that is listed: the migration has been claimed.
    pub(super) fn begins(&self) -> bool {
        !self.begun.swap(true, Ordering::Relaxed)
    }

    /// A page was listed: so many objects on it, and so many behind it if that is known.
    pub(super) fn listed(&self, objects: u64, behind: Option<u64>, is_last: bool) {
        let behind = if is_last { Some(0) } else { behind };
        let all = behind.map(|behind| behind + objects);
        *self
            .remaining
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = all;
        if let Some(all) = all {
            self.metrics.remain(&self.resource, all);
        }
        self.changed.notify_one();
    }

    /// An object of so many bytes was written back.
    pub(super) fn rewrote(&self, bytes: u64) {
        self.rewritten.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.done();
    }

    /// An object was written or deleted by somebody else.
    pub(super) fn skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
        self.done();
    }

    /// Something went wrong that may pass.
    pub(super) fn faulted(&self, why: &str) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }

    /// The work has ended.
    pub(super) fn ended(&self, worked: &Worked) {
        match worked {
            Worked::Completed { .. } => self.metrics.ended(&self.resource, "Succeeded"),
            Worked::Failed(_) => self.metrics.ended(&self.resource, "Failed"),
            Worked::Released { .. } | Worked::Lost => {}
        }
    }

    pub(super) fn seen(&self) -> Seen {
        let (rewritten, skipped) = (
            self.rewritten.load(Ordering::Relaxed),
            self.skipped.load(Ordering::Relaxed),
        );
        let seconds = self.since.elapsed().as_secs_f64();
        Seen {
            rewritten,
            skipped,
            bytes: self.bytes.load(Ordering::Relaxed),
            remaining: *self
                .remaining
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            fault: self
                .fault
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
            // Counts of objects are far below 2^52.
            per_second: (rewritten + skipped) as f64 / seconds.max(0.001),
        }
    }

    fn done(&self) {
        self.metrics.migrated(&self.resource);
        let mut remaining = self
            .remaining
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = &mut *remaining {
            *left = left.saturating_sub(1);
            self.metrics.remain(&self.resource, *left);
        }
        drop(remaining);
        self.changed.notify_one();
    }
}
