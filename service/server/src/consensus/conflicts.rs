//! The pause before appends are sent again to a replica that answers that they do not fit, and goes on to say so at one place.
//!
//! openraft sends at once after a conflict, and expects that the next one is at an earlier place. Where it is not
//! (`docs/internals/openraft.md`), both ends would be busy with nothing else.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::peer::messages::AppendResponse;

const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The conflict that one replica answered last, with the pause before the next append.
#[derive(Debug, Default)]
pub(super) struct RepeatedConflict(Mutex<Option<(u64, Duration)>>);

impl RepeatedConflict {
    /// Notes an answer to an append.
    pub(super) fn note(&self, answer: &AppendResponse) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = match (answer, *last) {
            (AppendResponse::Conflict(at), Some((index, pause))) if at.index == index => {
                Some((index, (2 * pause).clamp(PAUSE_MIN, PAUSE_MAX)))
            }
            (AppendResponse::Conflict(at), _) => Some((at.index, Duration::ZERO)),
            (AppendResponse::Matched(_) | AppendResponse::HigherVote(_), _) => None,
        };
    }

    /// The pause before the next append.
    pub(super) fn pause(&self) -> Duration {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.map_or(Duration::ZERO, |(_, pause)| pause)
    }
}

#[cfg(test)]
mod tests {
    use synod_store::LogId;

    use super::*;

    #[test]
    fn conflicts_at_one_place_are_paused_for_longer_and_longer() {
        let conflict = |index| {
            AppendResponse::Conflict(LogId {
                term: 1,
                leader: 1,
                index,
            })
        };
        let conflicts = RepeatedConflict::default();
        let after = |answer: AppendResponse| {
            conflicts.note(&answer);
            conflicts.pause()
        };
        // The search for the last entry in common.
        for index in [100, 50, 25] {
            assert_eq!(after(conflict(index)), Duration::ZERO);
        }
        let pauses: Vec<Duration> = (0..12).map(|_| after(conflict(25))).collect();
        assert!(pauses.is_sorted() && pauses[0] == PAUSE_MIN && pauses[11] == PAUSE_MAX);
        assert_eq!(after(AppendResponse::Matched(None)), Duration::ZERO);
    }
}
