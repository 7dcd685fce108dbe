//! What is told values, and what is asked for them.

use std::fmt;

/// A histogram that keeps nothing of what it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram<T = ()> {
    slot: T,
}

impl<T: Default> Histogram<T> {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T> Histogram<T> {
    /// Takes a value, and lets it go.
    pub fn record(&mut self, _value: u64) {}

    /// Takes a value so many times, and lets it go.
    pub fn record_n(&mut self, _value: u64, _count: u64) {}

    /// What is known of the values: nothing.
    #[must_use]
    pub fn percentile_stats(&self) -> PercentileStats {
        PercentileStats::default()
    }
}

/// How values are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PercentileStats {
    /// How many there were.
    pub samples: u64,
    /// One in a thousand is no greater.
    pub p0_1: u64,
    /// One in a hundred is no greater.
    pub p1: u64,
    /// One in twenty is no greater.
    pub p5: u64,
    /// One in ten is no greater.
    pub p10: u64,
    /// Half of them are no greater.
    pub p50: u64,
    /// Nine in ten are no greater.
    pub p90: u64,
    /// All but one in a hundred are no greater.
    pub p99: u64,
    /// All but one in a thousand are no greater.
    pub p99_9: u64,
}

impl fmt::Display for PercentileStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
