//! Metrics of the proposer: its queues, batches and failures.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{bytes, counts, gauge_value};
use crate::proposer::Lane;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfLane {
    lane: &'static str,
}

/// The metrics of the proposer.
#[derive(Debug)]
pub(crate) struct ProposerMetrics {
    queue_requests: Family<OfLane, Gauge>,
    queue_bytes: Family<OfLane, Gauge>,
    in_flight: Family<OfLane, Gauge>,
    batch_commands: Family<OfLane, Histogram>,
    batch_bytes: Family<OfLane, Histogram>,
    pending: Gauge,
    failed: Counter,
    expired: Counter,
    kept: Counter,
}

impl ProposerMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            queue_requests: Family::default(),
            queue_bytes: Family::default(),
            in_flight: Family::default(),
            batch_commands: Family::new_with_constructor(counts),
            batch_bytes: Family::new_with_constructor(bytes),
            pending: Gauge::default(),
            failed: Counter::default(),
            expired: Counter::default(),
            kept: Counter::default(),
        };
        registry.register(
            "synod_proposer_queue_requests",
            "Requests and forwarded batches that wait to be proposed",
            metrics.queue_requests.clone(),
        );
        registry.register(
            "synod_proposer_queue_bytes",
            "Bytes of the requests that wait to be proposed",
            metrics.queue_bytes.clone(),
        );
        registry.register(
            "synod_proposer_in_flight",
            "Log entries and forwarded batches that were sent and whose outcome is not known yet",
            metrics.in_flight.clone(),
        );
        registry.register(
            "synod_proposer_batch_commands",
            "Commands sent in one log entry or forwarded batch",
            metrics.batch_commands.clone(),
        );
        registry.register(
            "synod_proposer_batch_bytes",
            "Bytes of the commands sent in one log entry or forwarded batch",
            metrics.batch_bytes.clone(),
        );
        registry.register(
            "etcd_server_proposals_pending",
            "Requests and batches that wait to be proposed, or whose outcome is not known yet",
            metrics.pending.clone(),
        );
        registry.register(
            "etcd_server_proposals_failed",
            "Requests and forwarded batches that got no outcome",
            metrics.failed.clone(),
        );
        registry.register(
            "synod_expired",
            "Holders (members, sessions, leases, objects and others) that this replica, as leader, found past their \
             deadline",
            metrics.expired.clone(),
        );
        registry.register(
            "synod_renewals_kept",
            "Renewals that this replica, as leader, has answered without a log entry",
            metrics.kept.clone(),
        );
        for lane in Lane::ALL {
            // Every series is created at once: a missing one would look like one that was never counted.
            let of_lane = OfLane { lane: lane.name() };
            drop(metrics.queue_requests.get_or_create(&of_lane));
            drop(metrics.queue_bytes.get_or_create(&of_lane));
            drop(metrics.in_flight.get_or_create(&of_lane));
            drop(metrics.batch_commands.get_or_create(&of_lane));
            drop(metrics.batch_bytes.get_or_create(&of_lane));
        }
        metrics
    }

    /// Records a batch that was sent.
    pub(crate) fn batch(&self, lane: Lane, commands: usize, bytes: usize) {
        let lane = OfLane { lane: lane.name() };
        self.batch_commands
            .get_or_create(&lane)
            .observe(commands as f64);
        self.batch_bytes.get_or_create(&lane).observe(bytes as f64);
    }

    /// Sets the number of batches in flight.
    pub(crate) fn in_flight(&self, lane: Lane, batches: usize) {
        self.in_flight
            .get_or_create(&OfLane { lane: lane.name() })
            .set(gauge_value(batches));
    }

    /// Counts requests or batches that got no outcome.
    pub(crate) fn failed(&self, units: usize) {
        self.failed.inc_by(units as u64);
    }

    /// Counts renewals that were answered without a log entry.
    pub(crate) fn kept(&self, renewals: usize) {
        self.kept.inc_by(renewals as u64);
    }

    /// Counts holders that were found past their deadline.
    pub(crate) fn expired(&self, holders: u64) {
        self.expired.inc_by(holders);
    }

    /// Updates the gauges of the queues: `waiting` returns how many requests and bytes wait in a lane.
    pub(crate) fn observe(&self, waiting: impl Fn(Lane) -> (usize, usize)) {
        let mut pending = 0;
        for lane in Lane::ALL {
            let (requests, bytes) = waiting(lane);
            let lane = OfLane { lane: lane.name() };
            self.queue_requests
                .get_or_create(&lane)
                .set(gauge_value(requests));
            self.queue_bytes
                .get_or_create(&lane)
                .set(gauge_value(bytes));
            pending += gauge_value(requests) + self.in_flight.get_or_create(&lane).get();
        }
        self.pending.set(pending);
    }
}
