//! Metrics of reads and lists.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{counts, gauge_value, seconds};

/// A round that takes longer than this counts as slow, as in etcd.
const SLOW: Duration = Duration::from_millis(500);

/// The metrics of reads and lists.
#[derive(Debug)]
pub(crate) struct ReadMetrics {
    waiting: Gauge,
    per_round: Histogram,
    round_seconds: Histogram,
    failed: Counter,
    slow: Counter,
    pages_cut: Counter,
}

impl ReadMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            waiting: Gauge::default(),
            per_round: counts(),
            round_seconds: seconds(),
            failed: Counter::default(),
            slow: Counter::default(),
            pages_cut: Counter::default(),
        };
        registry.register(
            "synod_read_waiting",
            "Reads that wait for a read index",
            metrics.waiting.clone(),
        );
        registry.register(
            "synod_read_round_reads",
            "Reads that shared one read index",
            metrics.per_round.clone(),
        );
        registry.register(
            "synod_read_round_seconds",
            "How long a read index took",
            metrics.round_seconds.clone(),
        );
        registry.register(
            "etcd_server_read_indexes_failed",
            "Rounds in which no read index was got",
            metrics.failed.clone(),
        );
        registry.register(
            "etcd_server_slow_read_indexes",
            "Rounds in which the read index took longer than half a second, or was not got at all",
            metrics.slow.clone(),
        );
        registry.register(
            "synod_list_pages_cut",
            "Pages of lists that ended for their bytes, before they had all that was asked for",
            metrics.pages_cut.clone(),
        );
        metrics
    }

    /// Counts a page of a list that ended because it had enough bytes.
    pub(crate) fn page_cut(&self) {
        self.pages_cut.inc();
    }

    /// Sets the number of waiting reads.
    pub(crate) fn waiting(&self, reads: usize) {
        self.waiting.set(gauge_value(reads));
    }

    /// Records a round for this many reads.
    pub(crate) fn round(&self, reads: usize, took: Duration, succeeded: bool) {
        self.per_round.observe(reads as f64);
        self.round_seconds.observe(took.as_secs_f64());
        if !succeeded {
            self.failed.inc();
        }
        if !succeeded || took > SLOW {
            self.slow.inc();
        }
    }
}
