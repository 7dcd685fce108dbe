//! Counts the changes that a read of one object walks, instead of measuring its time.

use std::cell::Cell;

use super::*;

/// A value that holds the revision of its last change.
type Thing = Option<Arc<Revision>>;

fn changed_at(revision: u64) -> Thing {
    Some(Arc::new(Revision::new(revision)))
}

/// The value at revision 10, and the number of changes since that were walked, of this value and of others.
fn walked(present: &Thing, changes: &[Option<Thing>]) -> (Thing, usize) {
    let walked = Cell::new(0);
    let undone = changes.iter().filter_map(|change| {
        walked.set(walked.get() + 1);
        change.as_ref().map(Option::as_ref)
    });
    let at = Revision::new(10);
    let thing = as_it_was(present.as_ref(), |at| **at, at, undone).cloned();
    (thing, walked.get())
}

#[test]
fn what_has_not_changed_since_costs_no_step_whatever_else_has() {
    let others = vec![None; 1_000];
    for revision in [1, 9, 10] {
        let present = changed_at(revision);
        assert_eq!(walked(&present, &others), (present, 0));
    }
}

#[test]
fn what_has_changed_since_costs_the_steps_to_its_next_change() {
    let mut changes = vec![None; 1_000];
    // Created at revision 4, changed at 14, removed at 15 and created again.
    changes[3] = Some(changed_at(4));
    changes[4] = Some(changed_at(14));
    changes[5] = Some(None);
    assert_eq!(walked(&changed_at(16), &changes), (changed_at(4), 4));
    assert_eq!(walked(&None, &changes), (changed_at(4), 4));
    // It did not exist at revision 10, and was created after it.
    changes[2] = Some(None);
    assert_eq!(walked(&changed_at(16), &changes), (None, 3));
}

#[test]
fn what_never_was_costs_a_step_for_each_change() {
    assert_eq!(walked(&None, &vec![None; 1_000]), (None, 1_000));
}
