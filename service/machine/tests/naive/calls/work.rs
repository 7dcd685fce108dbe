//! The calls on migrations.

use proptest::prelude::*;

use synod_model::Walk;

use super::{Stops, What, Work, which};

fn claims() -> impl Strategy<Value = Work> {
    let walks = prop_oneof![
        6 => Just(None),
        6 => Just(Some(Walk::Both)),
        1 => Just(Some(Walk::Collection)),
        1 => Just(Some(Walk::Outside)),
    ];
    let terms = (0..3_usize, any::<bool>(), walks);
    terms.prop_map(|(ttl, fenced, walks)| Work::Claim { ttl, fenced, walks })
}

fn stops() -> impl Strategy<Value = Stops> {
    prop::sample::select(vec![
        Stops::Nothing,
        Stops::SomeUnanswered,
        Stops::AllAnswered,
    ])
}

/// The commands of workers that follow the protocol.
pub(super) fn at_work() -> impl Strategy<Value = Work> {
    let progress = (0..100_u64, any::<bool>());
    prop_oneof![
        8 => claims(),
        8 => progress.prop_map(|(done, tells_estimate)| Work::Progress { done, tells_estimate }),
        2 => Just(Work::Complete),
        6 => (0..3_usize, stops()).prop_map(|(class, stops)| Work::Fail(class, stops)),
        4 => stops().prop_map(Work::Release),
        2 => Just(Work::Retry),
    ]
}

pub(super) fn work() -> impl Strategy<Value = What> {
    let progress = (0..100_u64, any::<bool>());
    let does = prop_oneof![
        12 => claims(),
        6 => progress.prop_map(|(done, tells_estimate)| Work::Progress { done, tells_estimate }),
        5 => Just(Work::Complete),
        4 => (0..5_usize, stops()).prop_map(|(class, stops)| Work::Fail(class, stops)),
        8 => stops().prop_map(Work::Release),
        1 => Just(Work::Abort),
        2 => prop::option::of(any::<bool>()).prop_map(|expects| Work::Delete { expects }),
        2 => Just(Work::Retry),
    ];
    let one = prop_oneof![2 => Just(0), 1 => 0..4_usize];
    (one, which(), does).prop_map(|(which, claim, does)| What::Migration { which, claim, does })
}
