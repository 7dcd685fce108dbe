//! Logs refused calls, at most one line a second however many are refused.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::identity::Refusal;

/// The least time between two lines.
const PERIOD: Duration = Duration::from_secs(1);

/// Counts refused calls and logs the counts.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<RefusalLog>);

#[derive(Debug, Default)]
struct RefusalLog {
    last: Option<Instant>,
    /// The refusals since the last line, by message.
    untold: BTreeMap<String, u64>,
}

impl Refusals {
    /// Counts a refusal, and logs all counts since the last line unless that was less than [`PERIOD`] ago.
    pub(super) fn note(&self, refusal: Refusal) {
        if let Some(refused) = self.due(refusal) {
            tracing::warn!(?refused, "refused calls of other replicas");
        }
    }

    fn due(&self, refusal: Refusal) -> Option<BTreeMap<String, u64>> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *told.untold.entry(refusal.to_string()).or_default() += 1;
        let now = Instant::now();
        if told.last.is_some_and(|last| now < last + PERIOD) {
            return None;
        }
        told.last = Some(now);
        Some(std::mem::take(&mut told.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_is_told_at_once_and_the_others_are_summed_up() {
        let refusals = Refusals::default();
        let count = |refused: Option<BTreeMap<String, u64>>| refused.map(|it| it.values().sum());
        assert_eq!(count(refusals.due(Refusal::Unnamed)), Some(1));
        for _ in 0..1_000 {
            assert_eq!(refusals.due(Refusal::WrongCluster), None);
        }
        tokio::time::advance(PERIOD).await;
        let told = refusals.due(Refusal::Unnamed).unwrap();
        assert_eq!(told[&Refusal::WrongCluster.to_string()], 1_000);
        assert_eq!(told[&Refusal::Unnamed.to_string()], 1);
        assert_eq!(count(refusals.due(Refusal::Unnamed)), None::<u64>);
    }
}
