//! Compares the kept history with the naive model: the upgrade history below the floor, and the revisions of times.

use std::collections::BTreeSet;

use synod_machine::{EventScope, OutOfReach, State};
use synod_model::WallTime;

use crate::model::Replay;
use crate::picture::{Visible, assert_same};

pub(crate) fn check(naive: &Replay, state: &State) {
    let floor = naive.upgrade.floor;
    assert_eq!(state.history().upgrade_floor(), floor);
    for (revision, expected) in &naive.past {
        match state.at_in(EventScope::Upgrade, *revision) {
            Ok(past) => {
                assert!(*revision >= floor);
                let found = Visible::upgrade_at(&past);
                assert_same(
                    "a past revision of an upgrade",
                    &expected.upgrade_part(),
                    &found,
                );
            }
            Err(OutOfReach::Compacted { oldest }) => {
                assert_eq!(oldest, floor);
                assert!(*revision < floor);
            }
            Err(OutOfReach::Future { .. }) => panic!("{revision} was made"),
        }
    }
    check_times(naive, state);
}

fn check_times(naive: &Replay, state: &State) {
    let times = naive.times();
    let oldest = times.first().copied();
    let named = times.iter().map(|(_, time)| time.as_millis());
    let named: BTreeSet<u64> = named.flat_map(|time| [time - 1, time, time + 1]).collect();
    for time in named.into_iter().map(WallTime::from_millis) {
        let until = times.iter().rev().find(|(_, at)| *at <= time);
        let found = state.history().revision_at(time);
        let found = found.map(|events| events.revision);
        let found = found.map_err(|not_kept| not_kept.oldest.map(|(revision, _)| revision));
        let expected = until.map(|(revision, _)| *revision);
        assert_eq!(
            found,
            expected.ok_or(oldest.map(|(revision, _)| revision)),
            "at {time}"
        );
    }
}
