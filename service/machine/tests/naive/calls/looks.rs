//! The observations of discovery that random callers post.

use proptest::prelude::*;

use super::{RESOURCES, What};

/// `unreported` weighs the resource that few report; of others, usually what their members report.
pub(super) fn observations(unreported: u32) -> impl Strategy<Value = What> {
    let hashes = prop_oneof![8 => Just(1_u8), 6 => Just(2), 2 => 1..8_u8, 1 => Just(0)];
    let last = (Just(RESOURCES - 1), hashes);
    let hashes = prop_oneof![3 => Just(0_u8), 1 => 1..8_u8];
    let reported = (0..RESOURCES, hashes);
    let look = prop_oneof![unreported => last, 1 => reported];
    let expects = prop_oneof![6 => Just(None), 3 => Just(Some(true)), 1 => Just(Some(false))];
    (look, any::<bool>(), expects).prop_map(|((resource, hashes), tells_kind, expects)| {
        What::Observe {
            resource,
            hashes,
            tells_kind,
            expects,
        }
    })
}
