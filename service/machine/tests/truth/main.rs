//! The machine against the truth: a world of servers, workers and stores around it, in which everything that is stored is known.
//!
//! 256 logs by default; `PROPTEST_CASES` sets another number, and `PROPTEST_RNG_SEED` another seed.

mod abilities;
mod draws;
mod families;
mod machine;
mod migrations;
mod oracle;
mod reached;
mod schedule;
mod servers;
mod stores;
mod truth;
mod workers;
mod world;

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestError, TestRunner};

use crate::abilities::{Ability, WITHHELD, WithheldAbility, held_abilities};
use crate::families::Log;
use crate::reached::{Event, EventCounts};
use crate::world::TrueWorld;

/// This many logs reach every event.
const ENOUGH_LOGS: u32 = 256;

/// The default cases are fixed, so that a failure is the fault of a change, not of chance.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261_128);
    }
    config
}

/// Runs logs in worlds with these abilities, up to the first fault, which is shrunk.
fn search(
    config: ProptestConfig,
    logs: &BoxedStrategy<Log>,
    abilities: &BTreeSet<Ability>,
) -> (EventCounts, Option<String>) {
    let reached = RefCell::new(EventCounts::default());
    let result = TestRunner::new(config).run(logs, |log| {
        let mut world = TrueWorld::new(&log.setup, abilities.clone());
        let result = world.run(&log.schedule);
        reached.borrow_mut().add(&world.reached);
        result.map_err(|fault| TestCaseError::fail(fault.to_string()))
    });
    let fault = match result {
        Ok(()) => None,
        Err(TestError::Fail(why, log)) => Some(format!(
            "{why}\nin a log of the family \"{}\", in {:?}:\n{}",
            log.family,
            log.setup,
            schedule::write(&log.schedule)
        )),
        Err(abort @ TestError::Abort(_)) => panic!("{abort}"),
    };
    (reached.into_inner(), fault)
}

#[test]
fn no_answer_of_the_machine_is_untrue_in_a_world_that_it_holds() {
    let config = config();
    let is_enough = config.cases >= ENOUGH_LOGS;
    let abilities = held_abilities();
    let (reached, fault) = search(config, &families::logs(&abilities), &abilities);
    if let Some(fault) = fault {
        panic!("{fault}");
    }
    if is_enough {
        let missing = reached.missing(&[
            Event::Adopted,
            Event::ClaimDelayed,
            Event::ClaimGranted,
            Event::LateWriteLanded,
            Event::MemberReplaced,
            Event::MigrationCompleted,
            Event::Observed,
            Event::Restored,
            Event::RewriteConflicted,
            Event::SafeUnderAssumption,
            Event::SafeWithoutAssumption,
        ]);
        assert_eq!(missing, Vec::<Event>::new(), "{reached:#?}");
    }
}

#[test]
fn each_withheld_ability_makes_an_answer_untrue() {
    let config = ProptestConfig {
        max_shrink_iters: 0,
        ..config()
    };
    if config.cases < ENOUGH_LOGS {
        return;
    }
    for WithheldAbility { ability, rule } in WITHHELD {
        let mut abilities = held_abilities();
        abilities.extend(families::needed_for(*ability));
        let (_, fault) = search(config.clone(), &families::logs_about(*ability), &abilities);
        assert!(
            fault.is_some(),
            "no answer is untrue in worlds with {ability:?}: if the rule \"{rule}\" is built, take it out of WITHHELD"
        );
    }
}
