//! The waits between tries.

use std::time::Duration;

use crate::seams::Randomness;

/// Waits that double from one to the next, each with jitter, so that clients that failed together do not retry
/// together.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self {
            next: first,
            longest,
        }
    }

    /// The next wait: between half of its nominal length and all of it.
    pub(crate) fn next(&mut self, randomness: &dyn Randomness) -> Duration {
        let nominal = self.next;
        self.next = (nominal * 2).min(self.longest);
        let share = (randomness.next() % 1_000) as u32;
        nominal / 2 + nominal / 2_000 * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Always returns the same number.
    struct Always(u64);

    impl Randomness for Always {
        fn next(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_stay_within_half_and_all_of_it() {
        let ms = Duration::from_millis;
        let mut low = Backoff::new(ms(20), ms(100));
        let mut high = low.clone();
        for nominal in [20, 40, 80, 100, 100] {
            assert_eq!(low.next(&Always(0)), ms(nominal) / 2);
            let high = high.next(&Always(999));
            assert!(
                high > ms(nominal) * 9 / 10 && high <= ms(nominal),
                "{high:?}"
            );
        }
    }
}
