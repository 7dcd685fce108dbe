//! Histories of controllers: random target states of two owners of one name against a naive model, and single rules.
//!
//! 1,000 histories by default; `PROPTEST_CASES` sets another number, and `PROPTEST_RNG_SEED` another seed.

mod digest;
mod marks;
mod model;
mod named;
mod posts;
#[path = "../support/raised.rs"]
mod raised;
mod replica;
#[path = "../support/stored.rs"]
mod stored;
mod stories;
#[path = "../support/switched.rs"]
mod switched;
mod switches;
mod vectors;

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::model::Model;
use crate::replica::Replica;

/// One step of a history.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The owner wants this state, written in this form.
    Want {
        owner: usize,
        state: u8,
        written: u8,
        limit: u32,
        number: Option<u64>,
        selects: bool,
        /// Whether it gets the mark of the update, and what that mark is tied to.
        update: Option<usize>,
        /// The version of the data that the owner states.
        version: Option<u8>,
        /// Whether the owner names it itself, whatever there is.
        named: bool,
    },
    /// A rollback to the snapshot at this position of its history, counted from the newest.
    RollBack {
        owner: usize,
        back: usize,
    },
    /// Marks for current, update and in use, by position from the newest; positions beyond the end are left out.
    Mark {
        owner: usize,
        current: usize,
        update: usize,
        in_use: Vec<usize>,
        marker: u8,
        tie: usize,
    },
    Truncate {
        owner: usize,
        limit: u32,
    },
    Forward {
        owner: usize,
        back: usize,
        by: u64,
    },
    DeleteOne {
        owner: usize,
        back: usize,
    },
    DeleteAll {
        owner: usize,
    },
    Release {
        owner: usize,
        back: usize,
    },
    Adopt {
        owner: usize,
    },
    /// Time passes, and the leader proposes what is past its deadline.
    Wait {
        seconds: u64,
    },
    /// The member that marks can be tied to is replaced by another one.
    MemberGoes {
        expires: bool,
        leaves: bool,
    },
    /// The object that marks can be tied to is replaced by another one.
    ObjectGoes,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let owner = || 0..2_usize;
    let back = || 0..5_usize;
    let tie = || 0..4_usize;
    let want = (
        (owner(), 0..6_u8, 0..3_u8, 0..5_u32),
        prop::option::weighted(0.2, 0..20_u64),
        prop::bool::weighted(0.3),
        prop::option::weighted(0.3, tie()),
        prop::option::weighted(0.5, 1..3_u8),
        prop::bool::weighted(0.1),
    );
    let want = want.prop_map(
        |((owner, state, written, limit), number, selects, update, version, named)| Step::Want {
            owner,
            state,
            written,
            limit,
            number,
            selects,
            update: update.filter(|_| !named),
            version,
            named,
        },
    );
    let marks = (
        owner(),
        back(),
        back(),
        prop::collection::vec(back(), 0..3),
        0..2_u8,
        tie(),
    );
    let marks = marks.prop_map(|(owner, current, update, in_use, marker, tie)| Step::Mark {
        owner,
        current,
        update,
        in_use,
        marker,
        tie,
    });
    let goes = (prop::bool::weighted(0.3), any::<bool>());
    let goes = goes.prop_map(|(expires, leaves)| Step::MemberGoes { expires, leaves });
    let step = prop_oneof![
        12 => want,
        3 => (owner(), back()).prop_map(|(owner, back)| Step::RollBack { owner, back }),
        4 => marks,
        2 => (owner(), 0..4_u32).prop_map(|(owner, limit)| Step::Truncate { owner, limit }),
        1 => (owner(), back(), 0..4_u64).prop_map(|(owner, back, by)| Step::Forward { owner, back, by }),
        1 => (owner(), back()).prop_map(|(owner, back)| Step::DeleteOne { owner, back }),
        1 => owner().prop_map(|owner| Step::DeleteAll { owner }),
        2 => (owner(), back()).prop_map(|(owner, back)| Step::Release { owner, back }),
        1 => owner().prop_map(|owner| Step::Adopt { owner }),
        2 => (1..40_u64).prop_map(|seconds| Step::Wait { seconds }),
        1 => goes,
        1 => Just(Step::ObjectGoes),
    ];
    prop::collection::vec(step, 1..40)
}

// Guarantee: H-01
#[test]
fn a_thousand_random_histories_are_those_of_the_naive_model() {
    let reached = RefCell::new(BTreeSet::new());
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    // The default of proptest.
    if config.cases == 256 {
        config.cases = 1_000;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261_121);
    }
    let enough = config.cases >= 1_000;
    let result = TestRunner::new(config).run(&steps(), |steps| {
        run(&steps, &mut reached.borrow_mut());
        Ok(())
    });
    if let Err(fault) = result {
        panic!("{fault}");
    }
    let reached = reached.into_inner();
    let all = [
        "adopted by a create",
        "collided with the other owner",
        "created",
        "given number used",
        "live kept beyond the limit",
        "marked by a create",
        "marks not renewed",
        "marks of a member gone",
        "marks of an object gone",
        "named by its owner",
        "released",
        "rolled back by a create",
        "rolled back by name",
        "truncated by a create",
        "unchanged",
        "version learned",
    ];
    if enough {
        assert_eq!(reached.into_iter().collect::<Vec<_>>(), all);
    }
}

fn run(steps: &[Step], reached: &mut BTreeSet<&'static str>) {
    let mut replica = Replica::with_posts();
    let mut model = Model::default();
    for step in steps {
        let past = replica.state.clone();
        let told = replica.carry_out(step, &model);
        if let Some((owner, count)) = replica.collisions {
            model.count_collisions(owner, count, reached);
        }
        let expected = model.carry_out(step, told.name.as_deref(), reached);
        assert_eq!(told, expected, "{step:?}");
        for owner in 0..2 {
            assert_eq!(replica.history(owner), model.history(owner), "{step:?}");
        }
        assert_eq!(replica.orphans(), model.orphans(), "{step:?}");
        replica.check(&past);
    }
}
