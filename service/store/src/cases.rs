//! The configuration of the property tests of this crate.

use proptest::test_runner::{Config, RngSeed};

/// This many cases, unless `PROPTEST_CASES` is set, and the same ones each time, unless
/// `PROPTEST_RNG_SEED` is set: a failure is the fault of a change, not of chance.
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
