//! Tests of migrations: claimed through any replica, given back by the leader, and sent to watchers.

use synod_proto::v1;

use crate::cluster::{
    Clients, Cluster, entry, get_deployments, group_resource, next_events, reason, report, within,
};

/// The name of the migration that a report of a new resource creates.
async fn pending(clients: &mut Clients) -> String {
    let list = clients
        .migrations
        .list(v1::MigrationsListRequest::default());
    let migrations = list.await.unwrap().into_inner().migrations;
    let [migration] = &migrations[..] else {
        panic!("there is one migration: {migrations:?}");
    };
    assert_eq!(migration.phase(), v1::MigrationPhase::Pending);
    assert_eq!(migration.target_version.as_deref(), Some("apps/v1"));
    migration.metadata.clone().unwrap().name
}

/// Claims, as soon as nothing can land any more that was written before anybody spoke.
pub(crate) async fn claimed(
    clients: &mut Clients,
    request: v1::MigrationsClaimRequest,
) -> v1::MigrationsClaimResponse {
    loop {
        match clients.migrations.claim(request.clone()).await {
            Ok(claimed) => return claimed.into_inner(),
            Err(status) => assert_eq!(reason(&status), "DRAINING", "{status}"),
        }
        tokio::task::yield_now().await;
    }
}

async fn claim(clients: &mut Clients, name: &str, ttl_ms: u64) -> v1::ClaimKey {
    let request = v1::MigrationsClaimRequest {
        name: name.to_owned(),
        worker: "one".to_owned(),
        ttl_ms: Some(ttl_ms),
        ..v1::MigrationsClaimRequest::default()
    };
    let claimed = claimed(clients, request).await;
    v1::ClaimKey {
        migration: name.to_owned(),
        token: claimed.token,
        cluster_id: claimed.header.unwrap().cluster_id,
    }
}

fn progress(claim: &v1::ClaimKey, done: u64) -> v1::MigrationsProgressRequest {
    v1::MigrationsProgressRequest {
        request_id: None,
        claim: Some(claim.clone()),
        progress: Some(v1::MigrationProgress {
            done,
            estimate: Some(10),
            continue_token: format!("after-{done}"),
        }),
    }
}

/// What happens to migrations from now on.
async fn watch(clients: &mut Clients) -> tonic::Streaming<v1::WatchResponse> {
    let filter = v1::WatchFilter {
        kinds: vec![v1::ObjectKind::Migration.into()],
        ..v1::WatchFilter::default()
    };
    let watch = v1::WatchRequest {
        filter: Some(filter),
        ..v1::WatchRequest::default()
    };
    clients.watch.watch(watch).await.unwrap().into_inner()
}

fn reasons(assumptions: &[v1::Assumption]) -> Vec<v1::AssumptionReason> {
    assumptions.iter().map(v1::Assumption::reason).collect()
}

fn complete(claim: &v1::ClaimKey) -> v1::MigrationsCompleteRequest {
    v1::MigrationsCompleteRequest {
        request_id: None,
        claim: Some(claim.clone()),
    }
}

async fn reported(clients: &mut Clients) -> v1::MemberEpoch {
    let member = clients.join("server-a", 60_000).await;
    let report = report(&member, vec![entry("deployments", "apps/v1")]);
    clients.storage_versions.report(report).await.unwrap();
    member
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_is_worked_at_through_a_follower_and_makes_a_version_safe_to_drop() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    reported(&mut clients).await;
    let name = pending(&mut clients).await;
    let drop_v2 = v1::StorageVersionsCheckDropRequest {
        resource: Some(group_resource("deployments")),
        version: "apps/v2".to_owned(),
        read: None,
    };
    let check = clients.storage_versions.check_drop(drop_v2.clone());
    let check = check.await.unwrap().into_inner();
    assert!(!check.safe);
    assert_eq!(
        check.dangers[0].reason(),
        v1::DangerReason::PersistedUnknown
    );

    let claim = claim(&mut clients, &name, 15_000).await;
    clients
        .migrations
        .progress(progress(&claim, 7))
        .await
        .unwrap();
    let get = v1::MigrationsGetRequest {
        name: name.clone(),
        read: None,
    };
    let view = clients.migrations.get(get).await.unwrap().into_inner();
    assert_eq!(view.progress.unwrap().continue_token, "after-7");
    assert_eq!(view.migration.unwrap().phase(), v1::MigrationPhase::Running);
    let completed = clients.migrations.complete(complete(&claim)).await;
    let assumed = completed.unwrap().into_inner().assumptions;
    assert_eq!(reasons(&assumed), [v1::AssumptionReason::NoRoster]);

    let get = clients.storage_versions.get(get_deployments(None));
    let state = get.await.unwrap().into_inner().storage_state.unwrap();
    let versions: Vec<_> = state
        .persisted
        .iter()
        .map(|kept| kept.version.clone())
        .collect();
    assert_eq!(versions, [Some("apps/v1".to_owned())]);
    let check = clients.storage_versions.check_drop(drop_v2).await.unwrap();
    let check = check.into_inner();
    assert!(check.safe);
    assert_eq!(
        reasons(&check.assumptions),
        [v1::AssumptionReason::NoRoster]
    );
    let binary = v1::StorageVersionsCheckBinaryRequest {
        resources: vec![v1::BinaryResource {
            resource: Some(group_resource("deployments")),
            decodable_versions: vec!["apps/v2".to_owned()],
            ..v1::BinaryResource::default()
        }],
        ..v1::StorageVersionsCheckBinaryRequest::default()
    };
    let check = clients.storage_versions.check_binary(binary).await.unwrap();
    assert!(!check.into_inner().safe, "it could not read what is stored");
}

// Guarantee: MG-04
#[tokio::test(flavor = "multi_thread")]
async fn the_leader_gives_back_what_a_silent_worker_has_claimed_and_tries_again_what_failed() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    reported(&mut clients).await;
    let name = pending(&mut clients).await;
    let mut events = watch(&mut clients).await;
    let silent = claim(&mut clients, &name, 1_000).await;
    let mut phases = Vec::new();
    for _ in 0..2 {
        let group = next_events(&mut events).await;
        let Some(v1::event::Object::Migration(migration)) = &group.events[0].object else {
            panic!("only migrations are watched: {group:?}");
        };
        phases.push(migration.phase());
    }
    assert_eq!(
        phases,
        [v1::MigrationPhase::Running, v1::MigrationPhase::Pending]
    );
    let late = clients.migrations.progress(progress(&silent, 1)).await;
    assert_eq!(reason(&late.unwrap_err()), "CONFLICT");

    let claim = claim(&mut clients, &name, 15_000).await;
    let fail = v1::MigrationsFailRequest {
        request_id: None,
        claim: Some(claim),
        class: v1::FailureClass::Transient.into(),
        reason: "the store is busy".to_owned(),
        ..v1::MigrationsFailRequest::default()
    };
    clients.migrations.fail(fail).await.unwrap();
    let again = async {
        loop {
            let group = next_events(&mut events).await;
            if let Some(v1::event::Object::Migration(migration)) = &group.events[0].object
                && migration.failures == 1
                && migration.phase() == v1::MigrationPhase::Pending
            {
                return;
            }
        }
    };
    within("a further try", again).await;
}

// Guarantee: MG-05
#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_gives_back_is_another_workers_at_once_and_shown_to_watchers() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    reported(&mut clients).await;
    let name = pending(&mut clients).await;
    let filter = v1::WatchFilter {
        kinds: vec![v1::ObjectKind::Migration.into()],
        ..v1::WatchFilter::default()
    };
    let watch = v1::WatchRequest {
        filter: Some(filter),
        ..v1::WatchRequest::default()
    };
    let mut events = clients.watch.watch(watch).await.unwrap().into_inner();
    let day = 86_400_000;
    let first = claim(&mut clients, &name, day).await;
    for done in [7, 9] {
        let told = clients.migrations.progress(progress(&first, done)).await;
        told.unwrap();
    }
    let release = v1::MigrationsReleaseRequest {
        request_id: None,
        claim: Some(first.clone()),
        ..v1::MigrationsReleaseRequest::default()
    };
    clients.migrations.release(release.clone()).await.unwrap();
    let shown = async {
        loop {
            let group = next_events(&mut events).await;
            if let Some(v1::event::Object::Migration(migration)) = &group.events[0].object
                && migration.phase() == v1::MigrationPhase::Pending
            {
                return migration.clone();
            }
        }
    };
    let shown = within("the end of the claim", shown).await;
    assert_eq!((shown.claim, shown.done, shown.failures), (None, 9, 0));
    let again = clients.migrations.release(release).await;
    assert_eq!(reason(&again.unwrap_err()), "CONFLICT");
    let request = v1::MigrationsClaimRequest {
        name: name.clone(),
        worker: "two".to_owned(),
        ..v1::MigrationsClaimRequest::default()
    };
    let second = clients.migrations.claim(request).await.unwrap();
    let second = second.into_inner();
    assert!(second.token > first.token);
    assert_eq!(second.progress.unwrap().continue_token, "after-9");
}

fn start(alias: &str) -> v1::MigrationsStartRequest {
    v1::MigrationsStartRequest {
        resource: Some(group_resource("deployments")),
        reason: v1::MigrationReason::Manual.into(),
        alias: Some(alias.to_owned()),
        ..v1::MigrationsStartRequest::default()
    }
}

fn delete(name: &str) -> v1::MigrationsDeleteRequest {
    v1::MigrationsDeleteRequest {
        name: name.to_owned(),
        ..v1::MigrationsDeleteRequest::default()
    }
}

/// Two callers take one name at once, through replicas that differ: one has it. While its worker is at it, it is deleted, which
/// a watch tells; and the name is another one's, which the watch tells next.
fn mine() -> v1::MigrationsGetRequest {
    v1::MigrationsGetRequest {
        name: "mine".to_owned(),
        read: None,
    }
}

// Guarantee: MG-06
#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_given_to_one_of_two_callers_and_to_another_migration_once_that_is_deleted() {
    let cluster = Cluster::start(3).await;
    let follower = cluster.follower().await;
    let mut clients = cluster.clients(follower).await;
    let mut others = cluster.clients(cluster.leader().await).await;
    reported(&mut clients).await;
    let began = pending(&mut clients).await;
    let rewrites = v1::MigrationsStartRequest {
        reason: v1::MigrationReason::RewriteAll.into(),
        ..start("mine")
    };
    let (one, two) = tokio::join!(
        clients.migrations.start(start("mine")),
        others.migrations.start(rewrites),
    );
    let (had, refused) = match (one, two) {
        (Ok(had), Err(refused)) | (Err(refused), Ok(had)) => (had.into_inner(), refused),
        both => panic!("one of two has the name: {both:?}"),
    };
    assert_eq!(reason(&refused), "ALREADY_EXISTS");
    let found = clients.migrations.get(mine()).await.unwrap();
    let found = found.into_inner().migration.unwrap();
    assert_eq!(found.alias.as_deref(), Some("mine"));
    assert_eq!(found.metadata.clone().unwrap().name, had.name);
    let mut events = watch(&mut clients).await;

    let other = v1::MigrationsDeleteRequest {
        preconditions: Some(v1::Preconditions {
            uid: "00000000-0000-8000-8000-000000000000".to_owned(),
            resource_version: None,
        }),
        ..delete(&began)
    };
    let refused = clients.migrations.delete(other).await.unwrap_err();
    assert_eq!(reason(&refused), "CONFLICT");
    clients.migrations.delete(delete(&began)).await.unwrap();
    let claim = claim(&mut clients, &had.name, 60_000).await;
    others.migrations.delete(delete(&had.name)).await.unwrap();
    let late = clients.migrations.progress(progress(&claim, 7)).await;
    assert_eq!(reason(&late.unwrap_err()), "NOT_FOUND");
    let gone = clients.migrations.get(mine()).await.unwrap_err();
    assert_eq!(reason(&gone), "NOT_FOUND");
    let next = clients.migrations.start(start("mine")).await.unwrap();
    let told = async {
        let mut told = Vec::new();
        while told.len() < 4 {
            for event in next_events(&mut events).await.events {
                let kind = event.r#type();
                let Some(v1::event::Object::Migration(one)) = event.object else {
                    panic!("it watches migrations alone")
                };
                told.push((kind, one.metadata.unwrap().name, one.alias));
            }
        }
        told
    };
    let told = within("the names in turn", told).await;
    let alias = Some("mine".to_owned());
    let is = |kind, name: &str, of: &Option<String>| (kind, name.to_owned(), of.clone());
    assert_eq!(
        told,
        [
            is(v1::EventType::Removed, &began, &None),
            is(v1::EventType::Modified, &had.name, &alias),
            is(v1::EventType::Removed, &had.name, &alias),
            is(v1::EventType::Added, &next.into_inner().name, &alias),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_of_another_cluster_is_refused_and_what_discovery_shows_ends_the_agreement() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    reported(&mut clients).await;
    let name = pending(&mut clients).await;
    let mut claim = claim(&mut clients, &name, 15_000).await;
    claim.cluster_id = "00000000-0000-8000-8000-000000000000".to_owned();
    let refused = clients.migrations.complete(complete(&claim)).await;
    assert_eq!(reason(&refused.unwrap_err()), "STALE_EPOCH");
    let observe = v1::MigrationsObserveRequest {
        resource: Some(group_resource("deployments")),
        hashes: vec!["xPOwRZ+Yhw8=".to_owned()],
        ..v1::MigrationsObserveRequest::default()
    };
    let observed = clients.migrations.observe(observe.clone()).await.unwrap();
    assert!(observed.into_inner().changed);
    let history = v1::StorageVersionsHistoryRequest {
        resource: observe.resource.clone(),
        read: None,
    };
    let history = clients.storage_versions.history(history).await.unwrap();
    let last = history.into_inner().changes.pop().unwrap();
    assert_eq!(last.to_version, None, "discovery shows another encoding");
    assert_eq!(last.cause(), v1::AgreementCause::Observed);
    let unreported = v1::MigrationsObserveRequest {
        resource: Some(group_resource("daemonsets")),
        ..observe
    };
    let observed = clients.migrations.observe(unreported).await.unwrap();
    assert!(observed.into_inner().changed);
    let reset = v1::MigrationsResetRequest::default();
    assert!(
        clients
            .migrations
            .reset(reset)
            .await
            .unwrap()
            .into_inner()
            .changed
    );
}
