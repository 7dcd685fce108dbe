//! The metrics of a replica, for Prometheus.
//!
//! A metric that means the same as one of etcd's has etcd's name, so that dashboards and alerts made for etcd work; all
//! others begin with `synod_`. Labels have few values, all known beforehand: no caller can create a new series. Metrics
//! that follow from the present state, such as who leads or how long the log is, are set when metrics are asked for.

mod agreement;
mod consensus;
mod disk;
mod doors;
mod log;
#[cfg(target_os = "linux")]
mod process;
mod proposer;
mod read;
mod rpc;
mod security;
mod status;
mod topics;
mod traces;
mod watch;

use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

pub(crate) use agreement::AgreementMetrics;
pub(crate) use consensus::ConsensusMetrics;
pub(crate) use disk::{DiskMetrics, FlushTimes};
pub(crate) use doors::DoorMetrics;
pub(crate) use proposer::ProposerMetrics;
pub(crate) use read::ReadMetrics;
pub(crate) use rpc::RpcMetrics;
pub(crate) use security::SecurityMetrics;
pub(crate) use status::StatusMetrics;
pub(crate) use watch::WatchMetrics;

use crate::seams::SpanCounts;

/// The metrics of one replica, by the part of it that keeps them up to date.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) agreement: Arc<AgreementMetrics>,
    pub(crate) consensus: ConsensusMetrics,
    pub(crate) disk: DiskMetrics,
    pub(crate) doors: Arc<DoorMetrics>,
    pub(crate) proposer: Arc<ProposerMetrics>,
    pub(crate) read: Arc<ReadMetrics>,
    pub(crate) rpc: Arc<RpcMetrics>,
    pub(crate) security: Arc<SecurityMetrics>,
    pub(crate) status: StatusMetrics,
    pub(crate) watch: Arc<WatchMetrics>,
}

impl Metrics {
    /// The metrics of a replica whose process makes no traces.
    #[cfg(test)]
    pub(crate) fn new(dropped_lines: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self::of_process(dropped_lines, SpanCounts::default)
    }

    /// The metrics of a replica. `dropped_lines` tells how many lines of its log the process has dropped, and `spans` what has
    /// become of the spans that it has made.
    pub(crate) fn of_process(
        dropped_lines: impl Fn() -> u64 + Send + Sync + 'static,
        spans: impl Fn() -> SpanCounts + Send + Sync + 'static,
    ) -> Self {
        let mut registry = Registry::default();
        let log = log::LogMetrics {
            dropped_lines: Box::new(dropped_lines),
        };
        registry.register_collector(Box::new(log));
        let spans = traces::TraceMetrics {
            spans: Box::new(spans),
        };
        registry.register_collector(Box::new(spans));
        #[cfg(target_os = "linux")]
        registry.register_collector(Box::new(process::ProcessMetrics));
        Self {
            agreement: Arc::new(AgreementMetrics::new(&mut registry)),
            consensus: ConsensusMetrics::new(&mut registry),
            disk: DiskMetrics::new(&mut registry),
            doors: Arc::new(DoorMetrics::new(&mut registry)),
            proposer: Arc::new(ProposerMetrics::new(&mut registry)),
            read: Arc::new(ReadMetrics::new(&mut registry)),
            rpc: Arc::new(RpcMetrics::new(&mut registry)),
            security: Arc::new(SecurityMetrics::new(&mut registry)),
            status: StatusMetrics::new(&mut registry),
            watch: Arc::new(WatchMetrics::new(&mut registry)),
            registry,
        }
    }

    /// All metrics, in the OpenMetrics text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Only writing can fail, and writing to a string does not.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// A histogram of seconds from a tenth of a millisecond to some seconds, each bucket twice the one before.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.0001, 2.0, 18))
}

/// A histogram of seconds from a tenth of a second to some hours, each bucket twice the one before.
fn long_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.1, 2.0, 18))
}

/// A histogram of counts from 1 to some thousands, each bucket four times the one before.
fn counts() -> Histogram {
    Histogram::new(exponential_buckets(1.0, 4.0, 7))
}

/// A histogram of bytes from 256 to 16 MiB, each bucket four times the one before.
fn bytes() -> Histogram {
    Histogram::new(exponential_buckets(256.0, 4.0, 9))
}

/// Converts a count to a gauge's type.
fn gauge_value(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{BOUNDS, CONNECTIONS};

    #[test]
    fn every_bound_of_the_table_has_its_metric() {
        let metrics = Metrics::new(|| 0);
        crate::rpc::declare(&metrics.rpc);
        let text = metrics.text();
        for bound in BOUNDS.iter().chain(CONNECTIONS) {
            let Some(metric) = bound.metric else { continue };
            let declared = format!("# TYPE {metric} ");
            assert!(text.contains(&declared), "{}: no {metric}", bound.name);
        }
    }
}
