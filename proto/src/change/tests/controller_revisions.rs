use proptest::option;
use proptest::prelude::*;
use synod_model::limits::{HISTORY_LIMIT_DEFAULT, TTL_MS_MAX};
use synod_model::{
    ControllerHistory, CreateControllerRevision, Equality, InUse, Labels, Mark,
    MarkControllerRevisions, MarkTie, NamePrefix, Ttl, UpdateControllerRevision,
};

use super::{carried, change, faults};
use crate::{Change, samples, v1};

fn history() -> impl Strategy<Value = ControllerHistory> {
    (samples::scope(), samples::controller()).prop_map(|(namespace, owner)| ControllerHistory {
        namespace,
        owner,
        selector: Labels::default(),
    })
}

fn create() -> impl Strategy<Value = CreateControllerRevision> {
    let tie = option::of(samples::mark_tie());
    let name = option::of(samples::revision_name());
    (history(), samples::data(), tie, name).prop_map(|(history, data, mark_update, name)| {
        CreateControllerRevision {
            history,
            data,
            equality: Equality::Json,
            prefix: NamePrefix::parse("web").unwrap(),
            labels: Labels::default(),
            annotations: synod_model::Annotations::default(),
            number: None,
            collision_count: 0,
            history_limit: HISTORY_LIMIT_DEFAULT,
            if_newest: None,
            name: name.filter(|_| mark_update.is_none()),
            mark_update,
        }
    })
}

fn marking() -> impl Strategy<Value = MarkControllerRevisions> {
    let mark = || {
        let on = samples::revision_name().prop_map(Mark::On);
        prop_oneof![Just(Mark::Nowhere), on]
    };
    let in_use = (samples::marker(), samples::revision_name());
    let in_use = in_use.prop_map(|(marker, name)| InUse {
        marker,
        names: [name].into(),
    });
    let said = (mark(), option::of(mark()), option::of(in_use));
    (history(), said, samples::mark_tie()).prop_map(|(history, (current, update, in_use), tie)| {
        MarkControllerRevisions {
            history,
            current: Some(current),
            update,
            in_use,
            tie,
        }
    })
}

/// A cluster is named with the epoch that it gave, or not at all.
fn of_epochs<T>(change: Change<T>, tie: Option<MarkTie>) -> Change<T> {
    let names_one = matches!(tie, Some(MarkTie::Member(..)));
    Change {
        epoch_cluster: change.epoch_cluster.filter(|_| names_one),
        ..change
    }
}

proptest! {
    #[test]
    fn a_create_is_carried_whole(change in change(create(), true)) {
        let tie = change.body.mark_update.clone();
        let change = of_epochs(change, tie);
        let request = carried::<_, v1::ControllerRevisionsCreateRequest>(&change);
        prop_assert_eq!(request.unwrap(), change);
    }

    #[test]
    fn marks_are_carried_whole(change in change(marking(), true)) {
        let tie = change.body.tie.clone();
        let change = of_epochs(change, Some(tie));
        let request = carried::<_, v1::ControllerRevisionsMarkLiveRequest>(&change);
        prop_assert_eq!(request.unwrap(), change);
    }
}

fn marks(tie: Option<v1::MarkTie>) -> v1::ControllerRevisionsMarkLiveRequest {
    v1::ControllerRevisionsMarkLiveRequest {
        history: Some(v1::ControllerHistory {
            namespace: "default".to_owned(),
            owner: Some(v1::OwnerReference {
                api_version: "apps/v1".to_owned(),
                kind: "StatefulSet".to_owned(),
                name: "web".to_owned(),
                uid: "0a000000-0000-4000-8000-00000000000a".to_owned(),
                ..v1::OwnerReference::default()
            }),
            ..v1::ControllerHistory::default()
        }),
        current: Some("web-1".to_owned()),
        tie,
        ..v1::ControllerRevisionsMarkLiveRequest::default()
    }
}

#[test]
fn a_mark_whose_holder_does_not_say_lasts_a_day() {
    for tie in [None, Some(v1::MarkTie { to: None })] {
        let change = Change::<MarkControllerRevisions>::try_from(marks(tie)).unwrap();
        assert_eq!(change.body.tie, MarkTie::Renewals(Ttl::MAX));
        assert_eq!(TTL_MS_MAX, 86_400_000);
    }
}

#[test]
fn every_fault_of_a_tie_is_named() {
    use v1::mark_tie::To;
    let object = v1::TiedObject {
        key: None,
        uid: "x".to_owned(),
    };
    let member = v1::MemberEpoch {
        member: "-".to_owned(),
        epoch: 0,
        cluster_id: "?".to_owned(),
    };
    let ties = [
        (To::TtlMs(1), vec!["tie.ttlMs"]),
        (To::Object(object), vec!["tie.object.key", "tie.object.uid"]),
        (
            To::Member(member),
            vec![
                "tie.member.member",
                "tie.member.epoch",
                "tie.member.clusterId",
            ],
        ),
    ];
    for (to, wrong) in ties {
        let request = marks(Some(v1::MarkTie { to: Some(to) }));
        assert_eq!(
            faults(Change::<MarkControllerRevisions>::try_from(request)),
            wrong
        );
    }
}

#[test]
fn an_update_without_a_resource_version_is_refused_in_upstreams_words() {
    let request = v1::ControllerRevisionsUpdateRequest {
        namespace: "default".to_owned(),
        name: "web-1".to_owned(),
        revision: Some(2),
        ..v1::ControllerRevisionsUpdateRequest::default()
    };
    let refused = Change::<UpdateControllerRevision>::try_from(request.clone());
    let refused = refused.unwrap_err().into_refusal().message;
    let words = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert!(refused.contains(words), "{refused}");
    let seen = v1::ControllerRevisionsUpdateRequest {
        if_resource_version: Some(7),
        ..request
    };
    assert!(Change::<UpdateControllerRevision>::try_from(seen).is_ok());
}
