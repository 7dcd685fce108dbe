//! The size of the log on disk, how long its writes take, and the free space of the disk.

mod flushes;

use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use synod_store::{LogStatus, Space};

use super::{gauge_value, seconds};
pub(crate) use flushes::FlushTimes;
use flushes::Flushes;

/// The metrics of the log and of the disk.
#[derive(Debug)]
pub(crate) struct DiskMetrics {
    flush_seconds: Histogram,
    last_flushes: Flushes,
    entries: Gauge,
    segments: Gauge,
    queued_bytes: Gauge,
    cached_bytes: Gauge,
    chore_failed: Gauge,
    free_bytes: Gauge,
    size_bytes: Gauge,
}

impl DiskMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            flush_seconds: seconds(),
            last_flushes: Flushes::default(),
            entries: Gauge::default(),
            segments: Gauge::default(),
            queued_bytes: Gauge::default(),
            cached_bytes: Gauge::default(),
            chore_failed: Gauge::default(),
            free_bytes: Gauge::default(),
            size_bytes: Gauge::default(),
        };
        registry.register(
            "etcd_disk_wal_fsync_duration_seconds",
            "How long the disk took to write and sync what had gathered in the log",
            metrics.flush_seconds.clone(),
        );
        let mut gauge = |name, help, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge(
            "synod_log_entries",
            "Entries in the log on disk",
            &metrics.entries,
        );
        gauge(
            "synod_log_segments",
            "Files of the log on disk",
            &metrics.segments,
        );
        gauge(
            "synod_log_queued_bytes",
            "Bytes of the log that wait to be written",
            &metrics.queued_bytes,
        );
        gauge(
            "synod_log_cached_bytes",
            "Bytes of the log in memory",
            &metrics.cached_bytes,
        );
        gauge(
            "synod_disk_free_bytes",
            "Bytes that are free on the disk of the data directory",
            &metrics.free_bytes,
        );
        gauge(
            "synod_disk_size_bytes",
            "Bytes that the disk of the data directory has",
            &metrics.size_bytes,
        );
        gauge(
            "synod_log_chore_failed",
            "Whether the last chore of the log failed, so that old files stay on the disk; 1 or 0",
            &metrics.chore_failed,
        );
        metrics
    }

    /// Notes how long the disk took for a batch of the log.
    pub(crate) fn flushed(&self, took: Duration) {
        self.flush_seconds.observe(took.as_secs_f64());
        self.last_flushes.note(took);
    }

    /// How long the last batches of the log took.
    pub(crate) fn flush_times(&self) -> FlushTimes {
        self.last_flushes.times()
    }

    /// Sets the gauges of the disk's free space and size.
    pub(crate) fn room(&self, space: Space) {
        self.free_bytes.set(gauge_value(space.free));
        self.size_bytes.set(gauge_value(space.size));
    }

    pub(crate) fn observe(&self, log: &LogStatus) {
        self.entries.set(gauge_value(log.entries));
        self.segments.set(gauge_value(log.segments));
        self.queued_bytes.set(gauge_value(log.queued_bytes));
        self.cached_bytes.set(gauge_value(log.cached_bytes));
        self.chore_failed.set(log.chore_failure.is_some().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn a_chore_that_failed_is_shown_until_one_succeeds() {
        let metrics = Metrics::new(|| 0);
        let mut log = LogStatus {
            entries: 3,
            segments: 2,
            cached_bytes: 100,
            queued_bytes: 50,
            poisoned: false,
            chore_failure: Some("no space".to_owned()),
        };
        metrics.disk.observe(&log);
        let text = metrics.text();
        for line in ["synod_log_chore_failed 1", "synod_log_queued_bytes 50"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        log.chore_failure = None;
        metrics.disk.observe(&log);
        assert!(metrics.text().contains("synod_log_chore_failed 0"));
    }
}
