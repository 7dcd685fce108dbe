//! The seam to the traces of the process: where the spans that a replica makes of calls go.

use std::time::SystemTime;

use opentelemetry::global::BoxedTracer;

/// The traces of the process that a replica runs in.
pub trait ProcessTraces: Send + Sync + 'static {
    /// What begins spans, and decides which are recorded. A span that has ended must not be waited for.
    fn tracer(&self) -> &BoxedTracer;

    /// The time of day, by which spans begin and end.
    fn now(&self) -> SystemTime;

    /// What has become of the spans so far.
    fn counts(&self) -> SpanCounts;
}

/// What has become of spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// The collector has taken them.
    pub exported: u64,
    /// They were given up: the queue was full, or the collector did not take them.
    pub dropped: u64,
}
