//! What a member says of a resource.

use proptest::prelude::*;

use super::{RESOURCES, Says, VERSIONS};

pub(super) fn says() -> impl Strategy<Value = Says> {
    let versions = 1..(1_u8 << VERSIONS);
    let kind = prop_oneof![9 => Just(0_usize), 1 => Just(1)];
    // Most members decode all versions.
    let decodable = prop_oneof![1 => versions.clone(), 1 => Just((1 << VERSIONS) - 1)];
    let votes = prop::bool::weighted(0.75);
    let lawless = prop::bool::weighted(0.02);
    let outside = prop::bool::weighted(0.7);
    let names = (0..VERSIONS, votes, kind, outside, lawless);
    let resource = prop_oneof![9 => 0..RESOURCES - 1, 1 => Just(RESOURCES - 1)];
    (resource, decodable, versions, names).prop_map(
        |(resource, decodable, served, (version, votes, kind, outside, lawless))| Says {
            resource,
            decodable,
            served,
            version,
            votes,
            kind,
            outside,
            equivalents: 0,
            lawless,
        },
    )
}
