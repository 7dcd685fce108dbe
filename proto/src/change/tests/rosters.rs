use proptest::option;
use proptest::prelude::*;
use synod_model::limits::ROSTER_MEMBERS_MAX;
use synod_model::{DeleteRoster, SetRoster};

use super::{carried, change, faults, with};
use crate::{Change, samples, v1};

fn set() -> impl Strategy<Value = SetRoster> {
    let if_revision = option::of(prop_oneof![
        Just(synod_model::Revision::ZERO),
        samples::revision()
    ]);
    (
        samples::resource_scope(),
        samples::roster_rule(),
        if_revision,
    )
        .prop_map(|(scope, rule, if_revision)| SetRoster {
            scope,
            rule,
            if_revision,
        })
}

proptest! {
    #[test]
    fn what_is_said_of_rosters_is_carried_whole(set in change(set(), false)) {
        prop_assert_eq!(&carried::<_, v1::RostersSetRequest>(&set).unwrap(), &set);
        let SetRoster { scope, if_revision, .. } = set.body.clone();
        let delete = with(&set, DeleteRoster { scope, if_revision });
        prop_assert_eq!(carried::<_, v1::RostersDeleteRequest>(&delete).unwrap(), delete);
    }
}

#[test]
fn every_fault_of_a_roster_that_is_set_is_named() {
    assert_eq!(
        faults(Change::<SetRoster>::try_from(
            v1::RostersSetRequest::default()
        )),
        ["scope", "rule"]
    );
    assert_eq!(
        faults(Change::<DeleteRoster>::try_from(
            v1::RostersDeleteRequest::default()
        )),
        ["scope"]
    );
    let set = |rule| {
        let request = v1::RostersSetRequest {
            scope: "*".into(),
            rule: Some(rule),
            ..Default::default()
        };
        faults(Change::<SetRoster>::try_from(request))
    };
    assert_eq!(set(v1::RosterRule::default()), ["rule.members"]);
    let twice = v1::RosterRule {
        members: vec!["a".into(), "b".into(), "a".into()],
        ..Default::default()
    };
    assert_eq!(set(twice), ["rule.members[2]"]);
    let many = |count: usize| v1::RosterRule {
        members: (0..count).map(|number| format!("m-{number}")).collect(),
        ..Default::default()
    };
    assert!(
        Change::<SetRoster>::try_from(v1::RostersSetRequest {
            scope: "*".into(),
            rule: Some(many(ROSTER_MEMBERS_MAX)),
            ..Default::default()
        })
        .is_ok()
    );
    assert_eq!(set(many(ROSTER_MEMBERS_MAX + 1)), ["rule.members"]);
}
