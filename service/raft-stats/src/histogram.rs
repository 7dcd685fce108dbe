//! The histogram that openraft records values in, and its percentiles. Neither keeps anything.

use std::fmt;

/// A histogram that drops every value recorded in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram<T = ()> {
    slot: T,
}

impl<T: Default> Histogram<T> {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T> Histogram<T> {
    /// Drops `_value`.
    pub fn record(&mut self, _value: u64) {}

    /// Drops `_count` samples of `_value`.
    pub fn record_n(&mut self, _value: u64, _count: u64) {}

    /// The percentiles of the recorded values: all zero, since no value is kept.
    #[must_use]
    pub fn percentile_stats(&self) -> PercentileStats {
        PercentileStats::default()
    }
}

/// The distribution of the recorded values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PercentileStats {
    /// The number of recorded values.
    pub samples: u64,
    /// The 0.1th percentile.
    pub p0_1: u64,
    /// The 1st percentile.
    pub p1: u64,
    /// The 5th percentile.
    pub p5: u64,
    /// The 10th percentile.
    pub p10: u64,
    /// The 50th percentile, the median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The 99.9th percentile.
    pub p99_9: u64,
}

impl fmt::Display for PercentileStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
