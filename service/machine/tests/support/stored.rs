//! What is applied, and what comes of it, goes over the disk and between replicas.

use std::fmt::Debug;

use synod_machine::{Applied, LogEntry, State};
use synod_model::stored::{Stored, from_bytes, to_bytes};

/// The entry as it is read from the log.
pub(crate) fn read_back(entry: &LogEntry) -> LogEntry {
    same(entry)
}

/// That every outcome and every event is read as it was stored.
pub(crate) fn check(applied: &Applied) {
    applied
        .outcomes
        .iter()
        .for_each(|outcome| drop(same(outcome)));
    for events in &applied.events {
        same(&**events);
    }
}

/// The same of every row. Takes a while where there are many.
#[allow(dead_code, reason = "not where it would take too long")]
pub(crate) fn check_rows(state: &State) {
    state.rows().for_each(|row| drop(same(&row)));
}

fn same<T: Stored + PartialEq + Debug>(value: &T) -> T {
    let bytes = to_bytes(value);
    match from_bytes::<T>(&bytes) {
        Ok(read) => {
            assert_eq!(&read, value);
            assert_eq!(to_bytes(&read), bytes, "it has one form");
            read
        }
        Err(fault) => panic!("{value:?} cannot be read: {fault}"),
    }
}
