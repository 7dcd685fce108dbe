//! Random choices from a seed.

/// splitmix64: small, and good enough for these choices.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// One of `first..last`.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.next() % (last - first)
    }

    /// One of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).expect("a small number");
        usize::try_from(self.between(0, count)).expect("a small number")
    }

    /// True in `share` of a hundred cases.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.between(0, 100) < share
    }
}
