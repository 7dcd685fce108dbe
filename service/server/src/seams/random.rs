//! The only source of randomness.
//!
//! Raft needs random election timeouts, and a new data directory needs a unique id. Neither may influence what a
//! command does: apply has no randomness at all. The source is a thread-local because openraft asks for random numbers
//! through a static function; a simulation seeds it for its thread, which determines every number drawn there.

use std::cell::RefCell;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

thread_local! {
    static SEEDED: RefCell<Option<StdRng>> = const { RefCell::new(None) };
}

/// A new generator: seeded from the thread's source if that was seeded, otherwise from the system.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the seam that randomness comes through"
)]
pub fn rng() -> StdRng {
    SEEDED.with_borrow_mut(|seeded| match seeded {
        Some(source) => StdRng::seed_from_u64(source.random()),
        None => StdRng::from_rng(&mut rand::rng()),
    })
}

/// Makes every later [`rng`] on this thread depend on `seed` only. For simulations.
pub fn seed_this_thread(seed: u64) {
    SEEDED.set(Some(StdRng::seed_from_u64(seed)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seeded_thread_repeats_itself_and_another_seed_differs() {
        let draw = |seed| {
            seed_this_thread(seed);
            [rng().random::<u64>(), rng().random::<u64>()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        let [first, second] = draw(7);
        assert_ne!(first, second);
    }
}
