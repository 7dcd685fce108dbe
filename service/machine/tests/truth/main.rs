//! The machine against the truth: a world of servers, workers and stores around it, in which everything that is stored is known.
//!
//! 256 logs by default; `PROPTEST_CASES` sets another number, and `PROPTEST_RNG_SEED` another seed.

mod directed;
mod draws;
mod events;
mod expiry;
mod families;
mod machine;
mod migrations;
mod observers;
mod oracle;
mod schedule;
mod servers;
mod snapshots;
mod stores;
mod truth;
mod workers;
mod world;

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestError, TestRunner};

use crate::directed::DirectedSchedule;
use crate::events::{Event, EventCounts};
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

/// Plays logs up to the first that fails, which is shrunk.
fn search(config: ProptestConfig) -> (EventCounts, Option<String>) {
    let counts = RefCell::new(EventCounts::default());
    let result = TestRunner::new(config).run(&families::logs(), |log| {
        let mut world = TrueWorld::new(&log.setup);
        let result = play_to_the_end(&mut world, &log.schedule);
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

// Guarantee: V-24, MG-11
#[test]
fn no_answer_of_the_machine_is_untrue_in_random_logs() {
    let config = config();
    let is_enough = config.cases >= ENOUGH_LOGS;
    let (counts, fault) = search(config);
    if let Some(fault) = fault {
        panic!("{fault}");
    }
    if is_enough {
        assert_eq!(counts.missing(), Vec::<Event>::new(), "{counts:#?}");
    }
}

// Guarantee: V-24
#[test]
fn no_answer_of_the_machine_is_untrue_in_a_directed_schedule() {
    for DirectedSchedule {
        name,
        setup,
        schedule,
    } in directed::all()
    {
        let mut world = TrueWorld::new(&setup);
        if let Err(fault) = play_to_the_end(&mut world, &schedule) {
            panic!("{name}: {fault}");
        }
    }
}
