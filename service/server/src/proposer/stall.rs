//! Measures for how long a leader could not have anything executed.

use std::time::Duration;

use tokio::time::Instant;

/// A stall of the leader, as seen by batches that it refused. The default: no stall was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stall {
    /// When it was first and last seen.
    met: Option<(Instant, Instant)>,
}

impl Stall {
    /// Notes that the stall was seen now. Returns whether it has lasted for `patience`.
    pub(super) fn outlasts(&mut self, patience: Duration, now: Instant) -> bool {
        let since = match self.met {
            // The stall goes on if it was seen less than `patience` ago; otherwise this is a new one.
            Some((since, last)) if now < last + patience => since,
            Some(_) | None => now,
        };
        self.met = Some((since, now));
        now >= since + patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    fn met_after(millis: &[u64]) -> Vec<bool> {
        let (start, mut stall) = (Instant::now(), Stall::default());
        let met = millis
            .iter()
            .map(|millis| start + Duration::from_millis(*millis));
        met.map(|now| stall.outlasts(PATIENCE, now)).collect()
    }

    #[test]
    fn a_stall_is_waited_for_until_patience_ends_and_not_again_while_it_goes_on() {
        let expected = [false, false, false, true, true];
        assert_eq!(met_after(&[0, 1_000, 1_999, 2_000, 3_900]), expected);
    }

    #[test]
    fn a_stall_long_ago_says_nothing_of_the_next_one() {
        assert_eq!(met_after(&[0, 2_000, 4_000, 5_999]), [false; 4]);
    }
}
