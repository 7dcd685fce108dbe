//! A simulated year. API servers over a store that knows nothing of Synod are upgraded, rolled back, killed, paused,
//! replaced and cut off; writes land late; workers migrate and die; all replicas are lost, and an older backup is
//! restored beside a newer store. While not every server takes part yet, a roster asks for them or an observer sees
//! them. After every landed write and migration, the versions that the machine says may be stored are compared with the
//! stored ones.
//!
//! In some years what is voted on is no encoding but the key of a resource or the level of a feature. Then all whose gates are
//! open must read what is selected and stored, and write what they count as having adopted, at every moment; and one server is
//! given each key only with the release that writes with it, so that the others prefer what it lacks.
//!
//! Everything except the machine is simulated: a server follows the rules of the write gate by a clock of its own, and
//! the store accepts any write, as late as the promise allows. With a fence the store refuses writes older than the
//! fence; then nothing has to be assumed of clocks and delays.
//!
//! `SYNOD_YEARS` sets how many years each test simulates, `SYNOD_YEAR_SEED` the first seed.

mod agenda;
mod cluster;
mod process;
#[path = "../support/raised.rs"]
mod raised;
mod random;
mod served;
mod store;
#[path = "../support/stored.rs"]
mod stored;
mod worker;
mod year;

use cluster::About;
use year::{Nature, Year};

/// The number of years of each test by default; `cargo xtask endure` simulates more.
const YEARS: u64 = 1;

/// The default seed is fixed, so that runs of unchanged code test the same years.
const FIRST_SEED: u64 = 20_261_124;

#[expect(
    clippy::disallowed_methods,
    reason = "which years to simulate is said from outside, as it is of proptest's cases"
)]
fn number(variable: &str, otherwise: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(otherwise, |text| {
        text.parse().expect("the variable is a number")
    })
}

fn years(nature: Nature) -> impl Iterator<Item = Year> {
    let first = number("SYNOD_YEAR_SEED", FIRST_SEED);
    let count = number("SYNOD_YEARS", YEARS);
    (first..first + count).map(move |seed| Year::simulate(seed, nature))
}

// Guarantee: M-02, MG-17, B-10
#[test]
fn what_is_stored_is_in_persisted_for_a_year() {
    let mut missing: Option<Vec<&str>> = None;
    for year in years(Nature::PROMISED) {
        assert_eq!(year.fault, None, "seed {}: {:#?}", year.seed, year.tally);
        let mut still = year.tally.missing();
        still.retain(|name| missing.as_ref().is_none_or(|before| before.contains(name)));
        missing = Some(still);
    }
    // A year without events would pass, so every kind of event must have happened.
    assert_eq!(missing, Some(Vec::new()));
}

// Guarantee: V-06
#[test]
fn with_a_roster_of_every_server_nothing_is_missed_while_some_do_not_take_part() {
    rolls_out(Nature::UNDER_ROSTER);
}

// Guarantee: V-07
#[test]
fn what_was_written_before_there_was_a_roster_stays_on_trust_until_it_is_migrated_under_one() {
    rolls_out(Nature::ROSTER_LATER);
}

// Guarantee: V-11
#[test]
fn what_an_observer_has_seen_is_not_missed_while_some_do_not_take_part() {
    rolls_out(Nature::OBSERVED);
}

// Guarantee: T-01, T-02
#[test]
fn the_keys_that_objects_are_encrypted_with_are_known_for_a_year() {
    let natures = [Nature::PROMISED, Nature::UNDER_ROSTER];
    cluster::speak_of(About::Keys);
    for year in natures.into_iter().flat_map(years) {
        let tally = &year.tally;
        assert_eq!(year.fault, None, "seed {}: {tally:#?}", year.seed);
        let happened = [
            tally.killed,
            tally.rolled_back,
            tally.draining,
            tally.adopted,
            tally.reports_refused,
            tally.completed_of_voted,
            tally.could_read,
            tally.free_keys,
            tally.turned,
        ];
        assert!(!happened.contains(&0), "seed {}: {tally:#?}", year.seed);
    }
    cluster::speak_of(About::Encodings);
}

#[test]
fn a_feature_rises_when_all_have_it_and_is_not_unlearned_for_a_year() {
    cluster::speak_of(About::Levels);
    for year in years(Nature::PROMISED) {
        let tally = &year.tally;
        assert_eq!(year.fault, None, "seed {}: {tally:#?}", year.seed);
        let happened = [
            tally.killed,
            tally.rolled_back,
            tally.expired,
            tally.adopted,
            tally.reports_refused,
            tally.could_read,
        ];
        assert!(!happened.contains(&0), "seed {}: {tally:#?}", year.seed);
        // Levels that rise seldom say little.
        assert!(tally.levels > 10, "seed {}: {tally:#?}", year.seed);
    }
    cluster::speak_of(About::Encodings);
}

fn rolls_out(nature: Nature) {
    let mut missing: Option<Vec<&str>> = None;
    for year in years(nature) {
        assert_eq!(year.fault, None, "seed {}: {:#?}", year.seed, year.tally);
        let mut still = year.tally.missing_of_rollout(nature.rollout);
        still.retain(|name| missing.as_ref().is_none_or(|before| before.contains(name)));
        missing = Some(still);
    }
    assert_eq!(missing, Some(Vec::new()));
}

// Guarantee: MG-17
#[test]
fn writes_that_land_later_than_promised_are_missed_without_a_fence() {
    assert!(years(Nature::LATE).any(|year| year.fault.is_some()));
}

#[test]
fn clocks_that_run_apart_more_than_promised_are_missed_without_a_fence() {
    assert!(years(Nature::APART).any(|year| year.fault.is_some()));
}

// Guarantee: MG-17
#[test]
fn a_fence_in_the_store_holds_whatever_clocks_and_writes_do() {
    for nature in [Nature::LATE, Nature::APART] {
        for year in years(Nature {
            fenced: true,
            ..nature
        }) {
            assert_eq!(year.fault, None, "seed {}: {:#?}", year.seed, year.tally);
            assert!(
                year.tally.fenced_off > 0,
                "seed {}: {:#?}",
                year.seed,
                year.tally
            );
        }
    }
}
