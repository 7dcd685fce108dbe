//! Chance, by a seed.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// A generator of chance: the same seed gives the same requests, but for what of the answers is used in them.
pub(super) struct Dice(StdRng);

impl Dice {
    pub(super) fn of(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// A number below this one, which is not zero.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// Whether the one of so many cases came.
    pub(super) fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.0.random()
    }
}
