//! Counts the spans that the process has made: what became of them.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;

use crate::seams::SpanCounts;

/// Asks for the counts when metrics are collected: the code that exports spans keeps them.
pub(super) struct TraceMetrics {
    pub(super) spans: Box<dyn Fn() -> SpanCounts + Send + Sync>,
}

impl fmt::Debug for TraceMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceMetrics").finish_non_exhaustive()
    }
}

impl Collector for TraceMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let SpanCounts { exported, dropped } = (self.spans)();
        for (name, help, count) in [
            (
                "synod_trace_spans_exported",
                "Spans of traces that the collector has taken",
                exported,
            ),
            (
                "synod_trace_spans_dropped",
                "Spans of traces that were dropped because the queue was full or the collector did not take them",
                dropped,
            ),
        ] {
            let count = ConstCounter::new(count);
            count.encode(encoder.encode_descriptor(name, help, None, count.metric_type())?)?;
        }
        Ok(())
    }
}
