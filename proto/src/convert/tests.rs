use proptest::option;
use proptest::prelude::*;
use prost::Message;
use synod_model::{
    Absent, AgreementChange, Condition, ErrorKind, Identity, Member, Persisted, Refusal, Roster,
    Settings, Violations, WallTime,
};

use crate::{samples, v1};

/// The object after both conversions: to its message and back.
fn carried<T, M>(value: &T) -> Result<T, Violations>
where
    M: Message + Default + for<'a> From<&'a T>,
    T: TryFrom<M, Error = Violations>,
{
    T::try_from(M::decode(M::from(value).encode_to_vec().as_slice()).unwrap())
}

fn faults<T>(result: Result<T, Violations>) -> Vec<String> {
    let Err(violations) = result else {
        panic!("it was taken for sound")
    };
    violations
        .iter()
        .map(|violation| violation.field.clone())
        .collect()
}

proptest! {
    #[test]
    fn an_object_is_carried_whole(object in samples::object()) {
        prop_assert_eq!(carried::<_, v1::Object>(&object).unwrap(), object);
    }

    #[test]
    fn a_collection_is_carried_whole(collection in samples::collection()) {
        prop_assert_eq!(carried::<_, v1::Collection>(&collection).unwrap(), collection);
    }

    #[test]
    fn a_migration_is_carried_whole(migration in samples::migration()) {
        prop_assert_eq!(carried::<_, v1::Migration>(&migration).unwrap(), migration);
    }

    #[test]
    fn a_member_is_carried_whole(member in samples::member()) {
        prop_assert_eq!(carried::<_, v1::Member>(&member).unwrap(), member);
    }

    #[test]
    fn a_controller_revision_is_carried_whole(revision in samples::controller_revision()) {
        prop_assert_eq!(carried::<_, v1::ControllerRevision>(&revision).unwrap(), revision);
    }
    #[test]
    fn a_lease_is_carried_whole(lease in samples::lease()) {
        prop_assert_eq!(carried::<_, v1::Lease>(&lease).unwrap(), lease);
    }

    #[test]
    fn a_lease_candidate_is_carried_whole(candidate in samples::lease_candidate()) {
        prop_assert_eq!(carried::<_, v1::LeaseCandidate>(&candidate).unwrap(), candidate);
    }

    #[test]
    fn settings_are_carried_whole(settings in samples::settings()) {
        prop_assert_eq!(carried::<_, v1::Settings>(&settings).unwrap(), settings);
    }

    #[test]
    fn a_condition_is_carried_whole(condition in samples::condition()) {
        prop_assert_eq!(carried::<_, v1::Condition>(&condition).unwrap(), condition);
    }

    #[test]
    fn a_persisted_version_is_carried_whole(persisted in samples::persisted()) {
        prop_assert_eq!(carried::<_, v1::PersistedVersion>(&persisted).unwrap(), persisted);
    }

    #[test]
    fn a_change_of_agreement_is_carried_whole(
        from in option::of(samples::api_version()),
        to in option::of(samples::api_version()),
        revision in samples::revision(),
        at in any::<u64>(),
        cause in option::of(samples::agreement_cause()),
        caller in option::of("[a-z:/]{1,20}"),
    ) {
        let caller = caller.map(|caller| Identity::parse(&caller).unwrap());
        let change = AgreementChange { from, to, revision, at: WallTime::from_millis(at), cause, caller };
        prop_assert_eq!(carried::<_, v1::AgreementChange>(&change).unwrap(), change);
    }

    #[test]
    fn a_roster_and_who_is_missing_by_it_are_carried_whole(
        roster in samples::roster(),
        absent in samples::absent(),
    ) {
        prop_assert_eq!(carried::<_, v1::Roster>(&roster).unwrap(), roster);
        prop_assert_eq!(carried::<_, v1::AbsentMembers>(&absent).unwrap(), absent);
    }

    #[test]
    fn a_refusal_in_a_stream_is_carried_without_its_object(refusal in samples::refusal()) {
        let carried = Refusal::from(v1::Refusal::from(&refusal));
        let expected = crate::status::with_execution(refusal);
        prop_assert_eq!(carried, Refusal { current: None, ..expected });
    }
}

#[test]
fn every_fault_of_a_member_is_named() {
    let member = v1::Member {
        metadata: Some(v1::Metadata {
            name: "A".into(),
            labels: [("-".into(), "".into())].into(),
            ..Default::default()
        }),
        endpoint: "\n".into(),
        version: "\n".into(),
        ..v1::Member::default()
    };
    assert_eq!(
        faults(Member::try_from(member)),
        [
            "metadata.name",
            "metadata.labels",
            "metadata.uid",
            "instance",
            "epoch",
            "ttlMs",
            "version",
            "endpoint",
            "phase",
        ]
    );
    assert!(faults(Member::try_from(v1::Member::default())).contains(&"metadata".to_owned()));
}

#[test]
fn every_fault_of_settings_is_named() {
    let nameless = v1::GroupResource::default();
    let settings = v1::Settings {
        enforce_persisted: vec![nameless],
        ..v1::Settings::from(&Settings::default())
    };
    let faulty = v1::Settings {
        history_revisions: 0,
        write_grace_ms: 1,
        ..settings
    };
    assert_eq!(
        faults(Settings::try_from(faulty)),
        [
            "enforcePersisted[0].resource",
            "historyRevisions",
            "writeGraceMs"
        ]
    );
}

#[test]
fn a_status_or_a_hash_that_nobody_sends_is_a_fault() {
    assert_eq!(
        faults(Condition::try_from(v1::Condition::default())),
        ["status"]
    );
    let persisted = v1::PersistedVersion {
        version: Some("V1".into()),
        ..Default::default()
    };
    assert_eq!(faults(Persisted::try_from(persisted)), ["hash", "version"]);
}

#[test]
fn every_fault_of_a_roster_and_of_a_change_of_agreement_is_named() {
    let rule = v1::RosterRule {
        members: vec!["a".into(), "A".into()],
        label_selector: ",".into(),
        ..v1::RosterRule::default()
    };
    let roster = v1::Roster {
        metadata: None,
        scope: "Pods".into(),
        rule: Some(rule),
        ..v1::Roster::default()
    };
    assert_eq!(
        faults(Roster::try_from(roster)),
        ["scope", "metadata", "rule.members[1]", "rule.labelSelector"]
    );
    let change = v1::AgreementChange {
        cause: v1::AgreementCause::Member.into(),
        ..Default::default()
    };
    assert_eq!(faults(AgreementChange::try_from(change)), ["causeMember"]);
    let absent = v1::AbsentMembers {
        members: vec!["A".into()],
        ..Default::default()
    };
    assert_eq!(faults(Absent::try_from(absent)), ["members[0]"]);
}

#[test]
fn every_kind_has_a_reason_of_the_same_name() {
    for kind in ErrorKind::ALL {
        let reason = v1::ErrorReason::from(kind);
        assert_eq!(
            reason.as_str_name(),
            format!("ERROR_REASON_{}", kind.reason())
        );
        assert_eq!(ErrorKind::from(reason), kind);
    }
    assert_eq!(
        ErrorKind::from(v1::ErrorReason::Unspecified),
        ErrorKind::UnknownOutcome
    );
}

#[test]
fn a_reason_of_a_later_release_claims_nothing() {
    let later = v1::Refusal {
        reason: 1_000,
        ..v1::Refusal::default()
    };
    assert_eq!(Refusal::from(later).kind, ErrorKind::UnknownOutcome);
}

/// The member beside a cause that only a later release knows is ignored; beside a known cause, it is read.
#[test]
fn a_cause_that_is_not_known_here_fails_no_history() {
    let change = |cause: i32| {
        AgreementChange::try_from(v1::AgreementChange {
            cause,
            cause_member: Some("Not An Id".into()),
            ..Default::default()
        })
    };
    assert_eq!(change(99).unwrap().cause, None);
    let member = v1::AgreementCause::Member.into();
    assert_eq!(faults(change(member)), ["causeMember"]);
}
