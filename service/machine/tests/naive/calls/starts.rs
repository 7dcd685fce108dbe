//! Migrations that are started on request.

use proptest::prelude::*;

use super::{ALIASES, RESOURCES, What};
use crate::script::entries::speaks_of_encodings;

pub(super) fn start() -> impl Strategy<Value = What> {
    // What is the same for all kinds of topics is tried with encodings.
    let alias = match speaks_of_encodings() {
        true => prop::option::of(0..ALIASES.len()).boxed(),
        false => Just(None).boxed(),
    };
    let start = (0..RESOURCES, any::<bool>(), alias);
    start.prop_map(|(resource, rewrite_all, alias)| What::Start {
        resource,
        rewrite_all,
        alias,
    })
}
