//! How long the last writes to the log took: a histogram since the start says nothing of now.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many writes are remembered.
const KEPT: usize = 128;

/// The times of the last writes to the log, oldest first.
#[derive(Debug, Default)]
pub(super) struct Flushes(Mutex<VecDeque<Duration>>);

/// How long the last writes to the log took until they were durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlushTimes {
    /// How many writes.
    pub(crate) count: u32,
    /// The median; zero if there were none.
    pub(crate) median: Duration,
    /// The longest; zero if there were none.
    pub(crate) longest: Duration,
}

impl Flushes {
    pub(super) fn note(&self, took: Duration) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(took);
    }

    pub(super) fn times(&self) -> FlushTimes {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sorted: Vec<Duration> = kept.iter().copied().collect();
        drop(kept);
        sorted.sort_unstable();
        FlushTimes {
            count: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
            median: sorted.get(sorted.len() / 2).copied().unwrap_or_default(),
            longest: sorted.last().copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_writes_count() {
        let flushes = Flushes::default();
        assert_eq!(flushes.times(), FlushTimes::default());
        flushes.note(Duration::from_secs(9));
        for milliseconds in 1..=128 {
            flushes.note(Duration::from_millis(milliseconds));
        }
        let times = FlushTimes {
            count: 128,
            median: Duration::from_millis(65),
            longest: Duration::from_millis(128),
        };
        assert_eq!(flushes.times(), times);
    }
}
