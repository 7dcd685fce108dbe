//! Checks that entries, outcomes and events survive the disk and the way between replicas.

use std::fmt::Debug;

use synod_machine::Applied;
use synod_model::stored::{Stored, from_bytes, to_bytes};

/// Checks that every outcome and every event is read back as it was stored.
pub(crate) fn check(applied: &Applied) {
    for outcome in &applied.outcomes {
        read_back(outcome);
    }
    for events in &applied.events {
        read_back(&**events);
    }
}

/// The value read back from its stored form, which is checked to be its only form.
pub(crate) fn read_back<T: Stored + PartialEq + Debug>(value: &T) -> T {
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
