use std::collections::BTreeSet;

use super::*;

#[test]
fn every_bound_has_a_name_of_its_own_and_allows_something() {
    let names: BTreeSet<&str> = BOUNDS.iter().map(|bound| bound.name).collect();
    assert_eq!(names.len(), BOUNDS.len());
    assert!(BOUNDS.iter().all(|bound| bound.value > 0));
}
