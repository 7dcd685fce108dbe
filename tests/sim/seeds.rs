//! Runs a simulation for each of its seeds, and prints how to run a failed one again.

use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::machine::Kind;
use crate::trace::Trace;
use crate::watchdog::{PATIENCE, Watchdog};
use crate::world::World;

thread_local! {
    static PANICKED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Where this thread has panicked since its run began, if it has.
pub(crate) fn panicked() -> Option<String> {
    PANICKED.with_borrow(Clone::clone)
}

fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            PANICKED.with_borrow_mut(|noted| {
                noted.get_or_insert_with(|| panic.to_string());
            });
            before(panic);
        }));
    });
    PANICKED.set(None);
}

/// Runs `scenario` for these seeds, or for those that the environment gives.
pub(crate) fn for_each_seed(
    test: &str,
    kind: Kind,
    seeds: Range<u64>,
    scenario: impl Fn(&mut World),
) {
    if let Some(seed) = number("SYNOD_SIM_SEED") {
        println!("{}", run(test, kind, seed, &scenario).text());
        return;
    }
    let end = number("SYNOD_SIM_SEEDS").map_or(seeds.end, |count| seeds.start + count);
    for seed in seeds.start..end {
        run(test, kind, seed, &scenario);
    }
}

/// Runs `scenario` with one seed, and returns its trace.
pub(crate) fn run(test: &str, kind: Kind, seed: u64, scenario: impl Fn(&mut World)) -> Trace {
    note_panics();
    let again = format!(
        "run it again with: SYNOD_SIM_SEED={seed} cargo test -p synod-tests --test sim {test} -- --nocapture"
    );
    let _watchdog = Watchdog::over(again.clone(), PATIENCE);
    let mut world = World::new(kind, seed);
    let trace = world.trace.clone();
    let done = catch_unwind(AssertUnwindSafe(|| {
        scenario(&mut world);
        drop(world);
    }));
    if let Err(panic) = done {
        if number("SYNOD_SIM_SEED").is_some() {
            println!("{}", trace.text());
        }
        eprintln!("{again}");
        resume_unwind(panic);
    }
    trace
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} must be a number, and is {text:?}")),
    )
}
