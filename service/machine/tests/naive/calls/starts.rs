//! Migrations that are started on request.

use proptest::prelude::*;

use super::{ALIASES, RESOURCES, What};

pub(super) fn start() -> impl Strategy<Value = What> {
    // One alias is taken more often than the others, so that somebody has it already.
    let alias = prop_oneof![1 => Just(0), 1 => 0..ALIASES.len()];
    let alias = prop::option::weighted(0.7, alias);
    let start = (0..RESOURCES, any::<bool>(), alias);
    start.prop_map(|(resource, rewrite_all, alias)| What::Start {
        resource,
        rewrite_all,
        alias,
    })
}
