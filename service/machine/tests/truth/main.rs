//! The machine against the truth: a world of servers, workers and stores around it, in which everything that is stored is known.
//!
//! 256 logs by default; `PROPTEST_CASES` sets another number, and `PROPTEST_RNG_SEED` another seed.

mod abilities;
mod directed;
mod draws;
mod events;
mod families;
mod machine;
mod migrations;
mod oracle;
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
use crate::directed::DirectedSchedule;
use crate::events::{Event, EventCounts};
use crate::families::Log;
use crate::schedule::Action;
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

/// Plays logs in worlds with these abilities, up to the first that `play` fails, which is shrunk.
fn search(
    config: ProptestConfig,
    logs: &BoxedStrategy<Log>,
    abilities: &BTreeSet<Ability>,
    play: impl Fn(&mut TrueWorld, &Log) -> Result<(), String>,
) -> (EventCounts, Option<String>) {
    let counts = RefCell::new(EventCounts::default());
    let result = TestRunner::new(config).run(logs, |log| {
        let mut world = TrueWorld::new(&log.setup, abilities.clone());
        let result = play(&mut world, &log);
        counts.borrow_mut().add(&world.counts);
        result.map_err(TestCaseError::fail)
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
    (counts.into_inner(), fault)
}

/// Runs the schedule, and then lets everything come to rest: the machine may not hold back for ever either.
fn play_to_the_end(world: &mut TrueWorld, schedule: &[Action]) -> Result<(), String> {
    let result = world.run(schedule).and_then(|()| world.settle());
    match result {
        Ok(true) => Ok(()),
        Ok(false) => Err("nothing is safe to drop although everything is at rest".to_owned()),
        Err(fault) => Err(fault.to_string()),
    }
}

#[test]
fn no_answer_of_the_machine_is_untrue_in_a_world_that_it_holds() {
    let config = config();
    let is_enough = config.cases >= ENOUGH_LOGS;
    let abilities = held_abilities();
    let logs = families::logs(&abilities);
    let play = |world: &mut TrueWorld, log: &Log| play_to_the_end(world, &log.schedule);
    let (counts, fault) = search(config, &logs, &abilities, play);
    if let Some(fault) = fault {
        panic!("{fault}");
    }
    if is_enough {
        let missing = counts.missing(&abilities);
        assert_eq!(missing, Vec::<Event>::new(), "{counts:#?}");
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
        let logs = families::logs_about(*ability);
        let play = |world: &mut TrueWorld, log: &Log| {
            let result = world.run(&log.schedule);
            result.map_err(|fault| fault.to_string())
        };
        let (_, fault) = search(config.clone(), &logs, &abilities, play);
        assert!(
            fault.is_some(),
            "no answer is untrue in worlds with {ability:?}: if the rule \"{rule}\" is built, take it out of WITHHELD"
        );
    }
}

#[test]
fn each_directed_schedule_makes_an_answer_untrue_until_its_rule_is_built() {
    let is_withheld = |about: &Ability| WITHHELD.iter().any(|it| it.ability == *about);
    for directed in directed::all() {
        let DirectedSchedule {
            name,
            setup,
            about,
            schedule,
        } = directed;
        let mut abilities = held_abilities();
        abilities.extend(about);
        let mut world = TrueWorld::new(&setup, abilities);
        if about.iter().any(is_withheld) {
            assert!(
                world.run(&schedule).is_err(),
                "{name}: no answer is untrue: if a rule is built, take its part of {about:?} out of WITHHELD"
            );
        } else if let Err(fault) = play_to_the_end(&mut world, &schedule) {
            panic!("{name}: {fault}");
        }
    }
}
