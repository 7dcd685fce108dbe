//! Counts lines of the program's log that were dropped.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;

/// Asks for the count when metrics are collected: the code that logs keeps it.
pub(super) struct LogMetrics {
    pub(super) dropped_lines: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl fmt::Debug for LogMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogMetrics").finish_non_exhaustive()
    }
}

impl Collector for LogMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let dropped = ConstCounter::new((self.dropped_lines)());
        let name = "synod_log_lines_dropped";
        let help = "Lines of the program's log that were dropped because the queue of unwritten lines was full";
        dropped.encode(encoder.encode_descriptor(name, help, None, dropped.metric_type())?)
    }
}
