//! How the property tests of this crate choose their cases.

use proptest::test_runner::{Config, RngSeed};

/// So many cases, unless `PROPTEST_CASES` says otherwise, and the same ones each time, unless
/// `PROPTEST_RNG_SEED` does: a failure is somebody's change, not luck.
pub(crate) fn config(cases: u32) -> Config {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261_121);
    }
    config
}
