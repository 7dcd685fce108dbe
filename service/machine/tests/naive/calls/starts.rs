//! Migrations that are started on request.

use proptest::prelude::*;

use super::{ALIASES, RESOURCES, What};

pub(super) fn start() -> impl Strategy<Value = What> {
    let alias = prop::option::of(0..ALIASES.len());
    let start = (0..RESOURCES, any::<bool>(), alias);
    start.prop_map(|(resource, rewrite_all, alias)| What::Start {
        resource,
        rewrite_all,
        alias,
    })
}
