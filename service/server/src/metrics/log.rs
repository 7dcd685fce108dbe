//! Counts lines of the program's log that were dropped.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;

/// Asks for the count when metrics are collected: the code that logs keeps it.
#[derive(Debug)]
pub(super) struct LogMetrics {
    pub(super) dropped_lines: fn() -> u64,
}

impl Collector for LogMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let dropped = ConstCounter::new((self.dropped_lines)());
        let name = "synod_log_lines_dropped";
        let help = "Lines of the program's log that were dropped because the queue of unwritten lines was full";
        dropped.encode(encoder.encode_descriptor(name, help, None, dropped.metric_type())?)
    }
}
