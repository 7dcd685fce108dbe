mod controller_revisions;
mod leases;
mod objects;
mod rosters;

use std::collections::BTreeSet;

use proptest::collection::{btree_map, btree_set};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use prost::Message;
use synod_model::{
    AbortMigration, AddEquivalents, Adopt, ClaimMigration, CloseSession, ClusterId,
    CompleteMigration, DeleteMigration, DismissLooks, ErrorKind, FailMigration, ForgetResource,
    InstanceId, Join, Leave, MarkReady, MemberId, MigrationReason, ObserveStorage, ObservedServer,
    ObserverName, OpenSession, ReleaseMigration, RemoveEquivalent, Renew, Report,
    ReportMigrationProgress, RequestId, ResetStorageStates, RetryMigration, ServerLook,
    SettingsPatch, StartMigration, UpdateSettings, Violations, WorkerStop,
};

use crate::{Change, samples, v1};

/// The request after both conversions: to its message and back.
fn carried<T, M>(change: &Change<T>) -> Result<Change<T>, Violations>
where
    M: Message + Default + for<'a> From<&'a Change<T>>,
    Change<T>: TryFrom<M, Error = Violations>,
{
    Change::try_from(M::decode(M::from(change).encode_to_vec().as_slice()).unwrap())
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

/// A request of any caller: with or without a session and the cluster that gave it.
fn change<T: std::fmt::Debug>(
    body: impl Strategy<Value = T>,
    by_member: bool,
) -> impl Strategy<Value = Change<T>> {
    let session = option::of((samples::request_id(), option::of(samples::cluster())));
    (session, option::of(samples::cluster()), body).prop_map(
        move |(session, epoch_cluster, body)| Change {
            key: session.map(|(key, _)| key),
            session_cluster: session.and_then(|(_, cluster)| cluster),
            epoch_cluster: epoch_cluster.filter(|_| by_member),
            token_cluster: None,
            body,
        },
    )
}

fn join() -> impl Strategy<Value = Join> {
    let process = (
        samples::member_id(),
        samples::instance(),
        samples::ttl(),
        samples::labels(),
    );
    let says = (
        samples::binary_version(),
        samples::endpoint(),
        option::of(samples::epoch()),
        any::<bool>(),
    );
    (process, says).prop_map(
        |((id, instance, ttl, labels), (version, endpoint, lost_epoch, gated))| Join {
            id,
            instance,
            ttl,
            labels,
            version,
            endpoint,
            lost_epoch,
            gated,
        },
    )
}

fn report() -> impl Strategy<Value = Report> {
    (
        samples::member_id(),
        samples::epoch(),
        samples::statement(),
        samples::report_entries(),
        any::<bool>(),
    )
        .prop_map(|(member, epoch, number, entries, replace)| Report {
            member,
            epoch,
            number,
            entries,
            replace,
        })
}

fn adopt() -> impl Strategy<Value = Adopt> {
    (
        samples::member_id(),
        samples::epoch(),
        samples::statement(),
        samples::resource(),
        samples::revision(),
    )
        .prop_map(
            |(member, epoch, number, resource, selected_revision)| Adopt {
                member,
                epoch,
                number,
                resource,
                selected_revision,
            },
        )
}

fn forget() -> impl Strategy<Value = ForgetResource> {
    (samples::resource(), option::of(samples::revision())).prop_map(|(resource, if_revision)| {
        ForgetResource {
            resource,
            if_revision,
        }
    })
}

fn add_equivalents() -> impl Strategy<Value = AddEquivalents> {
    let named = btree_set(samples::resource(), 2..=8);
    named.prop_map(|resources| AddEquivalents { resources })
}

fn update() -> impl Strategy<Value = UpdateSettings> {
    let patch = samples::patch().prop_filter("it changes something", |patch| !patch.is_empty());
    (patch, option::of(samples::revision()))
        .prop_map(|(patch, if_revision)| UpdateSettings { patch, if_revision })
}

fn of_migrations() -> impl Strategy<Value = ClaimMigration> {
    (
        samples::migration_id(),
        samples::worker(),
        samples::ttl(),
        any::<bool>(),
        option::of(samples::walk()),
    )
        .prop_map(|(id, worker, ttl, fenced, walks)| ClaimMigration {
            id,
            worker,
            ttl,
            fenced,
            walks,
        })
}

fn said_of_migrations() -> impl Strategy<Value = ReportMigrationProgress> {
    let claim = (samples::migration_id(), samples::claim_token());
    (claim, samples::progress()).prop_map(|((id, token), progress)| ReportMigrationProgress {
        id,
        token,
        progress,
    })
}

fn observation() -> impl Strategy<Value = ObserveStorage> {
    let hashes = btree_set(samples::hash(), 1..16);
    let if_revision = option::of(samples::revision());
    let kind = option::of(samples::kind());
    (samples::resource(), kind, hashes, if_revision).prop_map(
        |(resource, kind, hashes, if_revision)| ObserveStorage {
            kind,
            if_revision,
            ..ObserveStorage::unnamed(resource, hashes)
        },
    )
}

/// A look of a named observer.
fn named_look() -> impl Strategy<Value = ObserveStorage> {
    let hashes = btree_set(samples::hash(), 0..16);
    let member = option::of(samples::member_id());
    let look = (hashes, member).prop_map(|(hashes, member)| ServerLook { hashes, member });
    let server = "[!-~]{1,40}".prop_map(|text| ObservedServer::parse(&text).unwrap());
    let observer = "[!-~]{1,40}".prop_map(|text| ObserverName::parse(&text).unwrap());
    let servers = btree_map(server, look, 1..32);
    (samples::resource(), observer, servers).prop_map(|(resource, observer, servers)| {
        ObserveStorage {
            observer: Some(observer),
            servers,
            ..ObserveStorage::unnamed(resource, BTreeSet::new())
        }
    })
}

/// The same request with another body.
fn with<T, U>(change: &Change<T>, body: U) -> Change<U> {
    Change {
        key: change.key,
        session_cluster: change.session_cluster,
        epoch_cluster: change.epoch_cluster,
        token_cluster: change.token_cluster,
        body,
    }
}

proptest! {
    #[test]
    fn what_is_asked_of_a_migration_is_carried_whole(
        claim in change(of_migrations(), false),
        observe in change(observation(), false),
        named in named_look(),
        rewrites in any::<bool>(),
        alias in option::of(samples::alias()),
        preconditions in samples::preconditions(),
    ) {
        prop_assert_eq!(&carried::<_, v1::MigrationsClaimRequest>(&claim).unwrap(), &claim);
        prop_assert_eq!(&carried::<_, v1::MigrationsObserveRequest>(&observe).unwrap(), &observe);
        let dismiss = with(&claim, DismissLooks {
            resource: named.resource.clone(),
            observer: named.observer.clone(),
            server: named.servers.keys().next().cloned(),
        });
        prop_assert_eq!(carried::<_, v1::MigrationsDismissRequest>(&dismiss).unwrap(), dismiss);
        let named = with(&claim, named);
        prop_assert_eq!(carried::<_, v1::MigrationsObserveRequest>(&named).unwrap(), named);
        let id = claim.body.id.clone();
        let abort = with(&claim, AbortMigration { id: id.clone() });
        prop_assert_eq!(carried::<_, v1::MigrationsAbortRequest>(&abort).unwrap(), abort);
        let delete = with(&claim, DeleteMigration { id: id.clone(), preconditions });
        prop_assert_eq!(carried::<_, v1::MigrationsDeleteRequest>(&delete).unwrap(), delete);
        let retry = with(&claim, RetryMigration { id });
        prop_assert_eq!(carried::<_, v1::MigrationsRetryRequest>(&retry).unwrap(), retry);
        let resource = observe.body.resource;
        let reset = with(&claim, ResetStorageStates { resource: rewrites.then(|| resource.clone()) });
        prop_assert_eq!(carried::<_, v1::MigrationsResetRequest>(&reset).unwrap(), reset);
        let reason = if rewrites { MigrationReason::RewriteAll } else { MigrationReason::Manual };
        let start = with(&claim, StartMigration { resource, reason, alias });
        prop_assert_eq!(carried::<_, v1::MigrationsStartRequest>(&start).unwrap(), start);
    }

    #[test]
    fn what_a_worker_says_is_carried_whole(
        spoken in change(said_of_migrations(), true),
        failure in samples::failure(),
        stop in option::of(select(vec![WorkerStop::SomeUnanswered, WorkerStop::AllAnswered])),
    ) {
        // A claim is a fencing token, and no epoch.
        let progress = Change { token_cluster: spoken.epoch_cluster, epoch_cluster: None, ..spoken };
        prop_assert_eq!(&carried::<_, v1::MigrationsProgressRequest>(&progress).unwrap(), &progress);
        let (id, token) = (progress.body.id.clone(), progress.body.token);
        let complete = with(&progress, CompleteMigration { id: id.clone(), token });
        prop_assert_eq!(carried::<_, v1::MigrationsCompleteRequest>(&complete).unwrap(), complete);
        let release = with(&progress, ReleaseMigration { id: id.clone(), token, stop });
        prop_assert_eq!(carried::<_, v1::MigrationsReleaseRequest>(&release).unwrap(), release);
        let fail = FailMigration { id, token, class: failure.class, reason: failure.reason, stop };
        let fail = with(&progress, fail);
        prop_assert_eq!(carried::<_, v1::MigrationsFailRequest>(&fail).unwrap(), fail);
    }

    #[test]
    fn a_join_is_carried_whole(change in change(join(), false)) {
        prop_assert_eq!(carried::<_, v1::MembershipJoinRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_report_is_carried_whole(change in change(report(), true)) {
        prop_assert_eq!(carried::<_, v1::StorageVersionsReportRequest>(&change).unwrap(), change);
    }

    #[test]
    fn an_adoption_is_carried_whole(change in change(adopt(), true)) {
        prop_assert_eq!(carried::<_, v1::StorageVersionsAdoptRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_forgotten_resource_is_carried_whole(
        change in change(forget(), false),
    ) {
        prop_assert_eq!(carried::<_, v1::StorageVersionsForgetRequest>(&change).unwrap(), change);
    }

    #[test]
    fn names_that_are_one_store_are_carried_whole(
        change in change(add_equivalents(), false),
        resource in samples::resource(),
    ) {
        let joined = carried::<_, v1::StorageVersionsAddEquivalentsRequest>(&change).unwrap();
        prop_assert_eq!(&joined, &change);
        let change = with(&change, RemoveEquivalent { resource });
        prop_assert_eq!(
            carried::<_, v1::StorageVersionsRemoveEquivalentRequest>(&change).unwrap(),
            change
        );
    }

    #[test]
    fn an_update_of_settings_is_carried_whole(change in change(update(), false)) {
        prop_assert_eq!(carried::<_, v1::ClusterUpdateSettingsRequest>(&change).unwrap(), change);
    }

    #[test]
    fn what_a_member_says_of_itself_is_carried_whole(
        member in samples::member_id(),
        epoch in samples::epoch(),
        drained in any::<bool>(),
        instance in option::of("[a-z]{1,8}"),
        of in change(Just(()), true),
    ) {
        let Change { key, session_cluster, epoch_cluster, token_cluster, body: () } = of;
        let ready = Change { key, session_cluster, epoch_cluster, token_cluster, body: MarkReady { member: member.clone(), epoch } };
        prop_assert_eq!(carried::<_, v1::MembershipReadyRequest>(&ready).unwrap(), ready);
        let instance = instance.map(|text| InstanceId::parse(&text).unwrap());
        let stopped = instance.is_none() && !drained;
        let leave = Leave { member: member.clone(), epoch, drained, instance, stopped };
        let leave = Change { key, session_cluster, epoch_cluster, token_cluster, body: leave };
        prop_assert_eq!(carried::<_, v1::MembershipLeaveRequest>(&leave).unwrap(), leave);
        let renew = Change { epoch_cluster, ..Change::new(Renew { member, epoch }) };
        prop_assert_eq!(Change::try_from(v1::MembershipRenewRequest::of(&renew, 7)).unwrap(), renew);
    }

    #[test]
    fn the_end_of_a_session_is_carried_whole(
        session in samples::session(),
        session_cluster in option::of(samples::cluster()),
    ) {
        let close = Change { session_cluster, ..Change::new(CloseSession { session }) };
        prop_assert_eq!(carried::<_, v1::SessionsCloseRequest>(&close).unwrap(), close);
    }

    #[test]
    fn no_bytes_make_a_conversion_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = bytes.as_slice();
        let _ = v1::MembershipJoinRequest::decode(bytes).map(Change::<Join>::try_from);
        let _ = v1::StorageVersionsReportRequest::decode(bytes).map(Change::<Report>::try_from);
        let _ = v1::ClusterUpdateSettingsRequest::decode(bytes).map(Change::<UpdateSettings>::try_from);
    }
}

#[test]
fn opening_a_session_says_nothing() {
    assert_eq!(
        Change::from(v1::SessionsOpenRequest {}),
        Change::new(OpenSession {})
    );
}

#[test]
fn an_empty_request_names_every_field_that_it_lacks() {
    assert_eq!(
        faults(Change::<Join>::try_from(
            v1::MembershipJoinRequest::default()
        )),
        ["id", "instance"]
    );
    assert_eq!(
        faults(Change::<Renew>::try_from(
            v1::MembershipRenewRequest::default()
        )),
        ["member"]
    );
    assert_eq!(
        faults(Change::<MarkReady>::try_from(
            v1::MembershipReadyRequest::default()
        )),
        ["member"]
    );
    assert_eq!(
        faults(Change::<Leave>::try_from(
            v1::MembershipLeaveRequest::default()
        )),
        ["member"]
    );
    assert_eq!(
        faults(Change::<Report>::try_from(
            v1::StorageVersionsReportRequest::default()
        )),
        ["member", "number"]
    );
    assert_eq!(
        faults(Change::<Adopt>::try_from(
            v1::StorageVersionsAdoptRequest::default()
        )),
        ["member", "number", "resource", "selectedRevision"]
    );
    assert_eq!(
        faults(Change::<CloseSession>::try_from(
            v1::SessionsCloseRequest::default()
        )),
        ["session"]
    );
    assert_eq!(
        faults(Change::<UpdateSettings>::try_from(
            v1::ClusterUpdateSettingsRequest::default()
        )),
        ["patch"]
    );
}

#[test]
fn every_fault_of_a_key_and_of_a_speaker_is_named() {
    let request = v1::MembershipReadyRequest {
        request_id: Some(v1::RequestId {
            cluster_id: "x".into(),
            ..Default::default()
        }),
        member: Some(v1::MemberEpoch {
            cluster_id: "x".into(),
            ..Default::default()
        }),
    };
    assert_eq!(
        faults(Change::<MarkReady>::try_from(request)),
        [
            "requestId.session",
            "requestId.sequence",
            "requestId.lowestUnanswered",
            "requestId.clusterId",
            "member.member",
            "member.epoch",
            "member.clusterId",
        ]
    );
}

#[test]
fn a_key_that_waits_only_for_later_requests_is_a_fault() {
    let request_id = Some(v1::RequestId {
        session: 3,
        sequence: 5,
        lowest_unanswered: 6,
        ..Default::default()
    });
    let member = Some(v1::MemberEpoch {
        member: "a".into(),
        epoch: 4,
        cluster_id: String::new(),
    });
    let request = v1::MembershipReadyRequest { request_id, member };
    assert_eq!(
        faults(Change::<MarkReady>::try_from(request)),
        ["requestId.lowestUnanswered"]
    );
}

#[test]
fn every_fault_of_a_join_is_named() {
    let request = v1::MembershipJoinRequest {
        id: "A".into(),
        instance: " ".into(),
        ttl_ms: Some(999),
        labels: [("ok".into(), "not ok".into())].into(),
        version: "\n".into(),
        endpoint: "\n".into(),
        lost_epoch: Some(0),
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<Join>::try_from(request)),
        [
            "id",
            "instance",
            "ttlMs",
            "labels[ok]",
            "version",
            "endpoint",
            "lostEpoch"
        ]
    );
}

fn entry(resource: &str, decodable: &[&str], encoding: &str) -> v1::ReportEntry {
    v1::ReportEntry {
        resource: Some(v1::GroupResource {
            group: "apps".into(),
            resource: resource.into(),
        }),
        kind: "Deployment".into(),
        decodable_versions: decodable.iter().map(ToString::to_string).collect(),
        served_versions: Vec::new(),
        stance: Some(v1::report_entry::Stance::EncodingVersion(encoding.into())),
        serve_until_ms: None,
        stored: v1::StoredIn::Outside.into(),
        equivalents: Vec::new(),
    }
}

#[test]
fn every_fault_of_every_entry_is_named_by_its_place() {
    let entries = vec![
        entry("deployments", &["v1"], "v1"),
        entry("Deployments", &["v1", "V2"], "v3"),
        v1::ReportEntry::default(),
        entry("deployments", &["v1"], "v1"),
    ];
    let member = Some(v1::MemberEpoch {
        member: "a".into(),
        epoch: 4,
        cluster_id: String::new(),
    });
    let request = v1::StorageVersionsReportRequest {
        member,
        number: 1,
        entries,
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<Report>::try_from(request)),
        [
            "entries[1].resource.resource",
            "entries[1].decodableVersions[1]",
            "entries[1].decodableVersions",
            "entries[2]",
            "entries[2].resource.resource",
            "entries[2].kind",
            "entries[2].decodableVersions",
            "entries[3].resource",
        ]
    );
}

#[test]
fn an_entry_without_a_stance_lacks_nothing_else() {
    let entry = v1::ReportEntry {
        stance: None,
        ..entry("deployments", &["v1"], "v1")
    };
    let member = Some(v1::MemberEpoch {
        member: "a".into(),
        epoch: 4,
        cluster_id: String::new(),
    });
    let request = v1::StorageVersionsReportRequest {
        member,
        number: 1,
        entries: vec![entry],
        ..Default::default()
    };
    let violations = Change::<Report>::try_from(request).unwrap_err();
    assert_eq!(
        violations.to_string(),
        "entries[0]: Required value: must have an encodingVersion or a preferredVersion"
    );
}

#[test]
fn a_core_resource_that_stands_twice_is_named_as_kubernetes_names_it() {
    let core = |resource| v1::ReportEntry {
        resource: Some(v1::GroupResource {
            group: String::new(),
            resource,
        }),
        ..entry("", &["v1"], "v1")
    };
    let member = Some(v1::MemberEpoch {
        member: "a".into(),
        epoch: 4,
        cluster_id: String::new(),
    });
    let entries = vec![core("pods".to_owned()), core("pods".to_owned())];
    let request = v1::StorageVersionsReportRequest {
        member,
        number: 1,
        entries,
        ..Default::default()
    };
    let violations = Change::<Report>::try_from(request).unwrap_err();
    assert_eq!(
        violations.to_string(),
        r#"entries[1].resource: Duplicate value: "pods""#
    );
}

#[test]
fn every_fault_of_a_patch_is_named() {
    let patch = v1::SettingsPatch {
        history_bytes: Some(0),
        members_max: Some(0),
        enforce_persisted: Some(v1::GroupResourceList {
            items: vec![v1::GroupResource::default()],
        }),
        ..Default::default()
    };
    let request = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<UpdateSettings>::try_from(request)),
        [
            "patch.enforcePersisted.items[0].resource",
            "patch.historyBytes",
            "patch.membersMax"
        ]
    );
}

#[test]
fn an_empty_list_of_resources_is_a_change() {
    let patch = v1::SettingsPatch {
        enforce_persisted: Some(v1::GroupResourceList::default()),
        ..Default::default()
    };
    let request = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..Default::default()
    };
    let change = Change::<UpdateSettings>::try_from(request).unwrap();
    let emptied = SettingsPatch {
        enforce_persisted: Some([].into()),
        ..SettingsPatch::default()
    };
    assert_eq!(change.body.patch, emptied);
}

#[test]
fn numbers_of_another_cluster_are_refused_under_this_one() {
    let [this, other] = [1, 2].map(|byte| ClusterId::from_bytes([byte; 16]));
    let renew = Renew {
        member: MemberId::parse("a").unwrap(),
        epoch: Default::default(),
    };
    let by = |session_cluster, epoch_cluster| Change {
        key: None::<RequestId>,
        session_cluster,
        epoch_cluster,
        token_cluster: None,
        body: renew.clone(),
    };
    let kind = |change: Change<Renew>| change.check_cluster(this).map_err(|refusal| refusal.kind);

    let under = |token_cluster| Change {
        token_cluster: Some(token_cluster),
        ..by(None, None)
    };
    assert_eq!(kind(under(this)), Ok(()));
    assert_eq!(kind(under(other)), Err(ErrorKind::StaleEpoch));
    assert_eq!(kind(by(None, None)), Ok(()));
    assert_eq!(kind(by(Some(this), Some(this))), Ok(()));
    assert_eq!(
        kind(by(Some(this), Some(other))),
        Err(ErrorKind::NotAMember)
    );
    assert_eq!(
        kind(by(Some(other), Some(other))),
        Err(ErrorKind::RequestExpired)
    );
}

#[test]
fn every_fault_of_a_request_about_a_migration_is_named_at_once() {
    let claim = v1::MigrationsClaimRequest {
        name: "pods".to_owned(),
        ttl_ms: Some(1),
        ..v1::MigrationsClaimRequest::default()
    };
    assert_eq!(faults(Change::try_from(claim)), ["name", "worker", "ttlMs"]);
    let progress = v1::MigrationsProgressRequest {
        claim: Some(v1::ClaimKey::default()),
        progress: Some(v1::MigrationProgress {
            continue_token: "\n".to_owned(),
            ..v1::MigrationProgress::default()
        }),
        ..v1::MigrationsProgressRequest::default()
    };
    let expected = ["claim.migration", "claim.token", "progress.continueToken"];
    assert_eq!(faults(Change::try_from(progress)), expected);
    let start = |reason: i32| {
        Change::<StartMigration>::try_from(v1::MigrationsStartRequest {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            }),
            reason,
            ..v1::MigrationsStartRequest::default()
        })
    };
    let named = |alias: &str| {
        let request = v1::MigrationsStartRequest {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            }),
            reason: v1::MigrationReason::Manual.into(),
            alias: Some(alias.to_owned()),
            ..v1::MigrationsStartRequest::default()
        };
        Change::<StartMigration>::try_from(request)
    };
    assert!(named("mine").is_ok());
    for alias in ["", "Mine", "pods-17", "a/b"] {
        assert_eq!(faults(named(alias)), ["alias"], "{alias}");
    }
    let agreement = v1::MigrationReason::Agreement.into();
    assert_eq!(faults(start(agreement)), ["reason"]);
    let known = "MIGRATION_REASON_AGREEMENT, MIGRATION_REASON_MANUAL, MIGRATION_REASON_REWRITE_ALL";
    for (number, is) in [(9, "Invalid value: \"9\""), (0, "Required value")] {
        assert_eq!(
            start(number).unwrap_err().to_string(),
            format!("reason: {is}: must be one of {known}")
        );
    }
    let observe = |hashes: &[&str]| {
        let request = v1::MigrationsObserveRequest {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            }),
            hashes: hashes.iter().map(ToString::to_string).collect(),
            ..v1::MigrationsObserveRequest::default()
        };
        faults(Change::try_from(request))
    };
    assert_eq!(observe(&[]), ["hashes"]);
    let hash = "xPOwRZ+Yhw8=";
    assert_eq!(observe(&[hash, hash]), ["hashes[1]"]);
    assert_eq!(observe(&[hash, "x"]), ["hashes[1]"]);
}

#[test]
fn every_fault_of_a_look_of_a_named_observer_is_named_at_once() {
    let hash = "xPOwRZ+Yhw8=";
    let look = |server: &str, hashes: &[&str]| v1::ServerLook {
        server: server.to_owned(),
        hashes: hashes.iter().map(ToString::to_string).collect(),
        of_member: None,
    };
    let by_name = |observer: Option<&str>, hashes: &[&str], servers: Vec<v1::ServerLook>| {
        let request = v1::MigrationsObserveRequest {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            }),
            hashes: hashes.iter().map(ToString::to_string).collect(),
            observer: observer.map(str::to_owned),
            servers,
            ..v1::MigrationsObserveRequest::default()
        };
        faults(Change::try_from(request))
    };
    assert_eq!(by_name(Some("east"), &[], Vec::new()), ["servers"]);
    assert_eq!(
        by_name(Some("east"), &[hash], vec![look("a", &[])]),
        ["hashes"]
    );
    assert_eq!(by_name(Some(""), &[], vec![look("a", &[])]), ["observer"]);
    assert_eq!(by_name(None, &[hash], vec![look("a", &[])]), ["observer"]);
    let twice = vec![
        look("a", &[hash, hash]),
        look("", &[]),
        look("b", &[]),
        look("b", &[]),
    ];
    assert_eq!(
        by_name(Some("east"), &[], twice),
        [
            "servers[0].hashes[1]",
            "servers[1].server",
            "servers[3].server"
        ]
    );
}
