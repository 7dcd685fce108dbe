//! Any legal roster, and the members that are missing by it; agreement causes, assumptions and
//! declared binaries.

use std::collections::BTreeMap;

use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use synod_model::{
    Absent, AgreementCause, Assumption, Binary, BinaryResource, ResourceScope, Roster, RosterRule,
    Stance,
};

use super::{api_version, kind, label_selector, member_id, metadata, resource};

pub(crate) fn resource_scope() -> impl Strategy<Value = ResourceScope> {
    prop_oneof![
        Just(ResourceScope::All),
        resource().prop_map(|resource| ResourceScope::group(resource.group()).unwrap()),
        resource().prop_map(ResourceScope::Resource),
    ]
}

pub(crate) fn roster_rule() -> impl Strategy<Value = RosterRule> {
    let rule = (
        btree_set(member_id(), 0..4),
        label_selector(),
        0..=1_000_u32,
        any::<bool>(),
    );
    rule.prop_map(|(members, labels, least, complete)| RosterRule {
        members,
        labels,
        least,
        complete,
        exempts_observed: false,
    })
    .prop_filter("it asks for somebody", |rule| rule.check().is_empty())
}

pub(crate) fn roster() -> impl Strategy<Value = Roster> {
    let parts = (resource_scope(), metadata(), roster_rule(), any::<bool>());
    parts.prop_map(|(scope, metadata, rule, exempts)| Roster {
        rule: RosterRule {
            exempts_observed: exempts && scope == ResourceScope::All,
            ..rule
        },
        scope,
        metadata,
    })
}

pub(crate) fn absent() -> impl Strategy<Value = Absent> {
    let missing = (
        btree_set(member_id(), 0..4),
        any::<u32>(),
        any::<u32>(),
        label_selector(),
    );
    missing.prop_map(|(members, unnamed, short, labels)| Absent {
        members,
        unnamed,
        short,
        labels,
    })
}

pub(crate) fn assumption() -> impl Strategy<Value = Assumption> {
    prop_oneof![
        Just(Assumption::NoRoster),
        Just(Assumption::SnapshotVersionUnknown),
        Just(Assumption::LeftToOthers),
        Just(Assumption::ConcludedBefore),
        Just(Assumption::SaidStopped),
        Just(Assumption::RosterMayMiss),
        (1_000..2_000_u32).prop_map(Assumption::Other),
    ]
}

pub(crate) fn agreement_cause() -> impl Strategy<Value = AgreementCause> {
    prop_oneof![
        member_id().prop_map(AgreementCause::Member),
        Just(AgreementCause::Observed),
        Just(AgreementCause::Roster),
    ]
}

fn binary_resource() -> impl Strategy<Value = BinaryResource> {
    let said = option::of((any::<Index>(), any::<bool>()));
    (
        resource(),
        option::of(kind()),
        btree_set(api_version(), 1..4),
        said,
        any::<bool>(),
    )
        .prop_map(|(resource, kind, decodable, said, new)| {
            let versions: Vec<_> = decodable.iter().cloned().collect();
            let stance = said.map(|(named, fixed)| {
                let version = named.get(&versions).clone();
                if fixed {
                    Stance::Fixed { encoding: version }
                } else {
                    Stance::Voting { preferred: version }
                }
            });
            BinaryResource {
                resource,
                kind,
                decodable,
                stance,
                new,
            }
        })
}

/// A binary that names no resource twice.
pub(crate) fn binary() -> impl Strategy<Value = Binary> {
    (vec(binary_resource(), 1..4), vec(resource_scope(), 0..3)).prop_map(
        |(resources, left_to_others)| {
            let by_resource = resources.into_iter();
            let by_resource: BTreeMap<_, _> =
                by_resource.map(|one| (one.resource.clone(), one)).collect();
            Binary {
                resources: by_resource.into_values().collect(),
                left_to_others,
            }
        },
    )
}
