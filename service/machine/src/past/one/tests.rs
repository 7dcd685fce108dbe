//! What a look at one thing costs: the changes that it walks are counted, not time.

use std::cell::Cell;

use super::*;

/// A thing that says at which revision it was changed.
type Thing = Option<Arc<Revision>>;

fn changed_at(revision: u64) -> Thing {
    Some(Arc::new(Revision::new(revision)))
}

/// What the thing was at revision 10, and how many of the changes since were walked: of this thing, or of another one.
fn walked(present: &Thing, changes: &[Option<Thing>]) -> (Thing, usize) {
    let walked = Cell::new(0);
    let undone = changes.iter().filter_map(|change| {
        walked.set(walked.get() + 1);
        change.as_ref().map(Option::as_ref)
    });
    let at = Revision::new(10);
    let thing = as_it_was(present.as_ref(), |at| *at, at, undone).cloned();
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
    // Put there at revision 4, changed at 14, gone at 15 and there again.
    changes[3] = Some(changed_at(4));
    changes[4] = Some(changed_at(14));
    changes[5] = Some(None);
    assert_eq!(walked(&changed_at(16), &changes), (changed_at(4), 4));
    assert_eq!(walked(&None, &changes), (changed_at(4), 4));
    // It was not there at the revision, and came after it.
    changes[2] = Some(None);
    assert_eq!(walked(&changed_at(16), &changes), (None, 3));
}

#[test]
fn what_never_was_costs_a_step_for_each_change() {
    assert_eq!(walked(&None, &vec![None; 1_000]), (None, 1_000));
}
