//! The table of requests: one of each kind, which can be executed once in the scene but not twice.

use std::future::Future;
use std::pin::Pin;

use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::controller_revisions_client::ControllerRevisionsClient;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::migrations_client::MigrationsClient;
use synod_proto::v1::objects_client::ObjectsClient;
use synod_proto::v1::rosters_client::RostersClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use tonic::transport::Channel;

use super::scene::{
    DAY_MS, Scene, contender, content, history, key, lease, resource, voting, wanting,
};
use crate::cluster::{group_resource, join};

/// The revision and the text of an answer, without the replica that gave it; or the reason of the refusal.
pub(crate) type Told = Result<(u64, String), &'static str>;

type Telling = Pin<Box<dyn Future<Output = Told> + Send>>;

/// One request.
pub(crate) struct Row {
    /// `Service.Method`.
    pub(crate) name: &'static str,
    /// Sends the request under an exactly-once key.
    pub(crate) send: Box<dyn Fn(Channel, v1::RequestId) -> Telling + Send + Sync>,
}

macro_rules! row {
    ($name:literal, $client:ident.$method:ident, $message:expr) => {{
        let message = $message;
        Row {
            name: $name,
            send: Box::new(move |channel, id| {
                let mut message = message.clone();
                message.request_id = Some(id);
                Box::pin(async move {
                    let answer = $client::new(channel).$method(message).await;
                    let mut answer = match answer {
                        Ok(answer) => answer.into_inner(),
                        Err(status) => return Err(crate::cluster::reason(&status)),
                    };
                    let header = answer.header.take().unwrap();
                    Ok((header.revision, format!("{answer:?}")))
                })
            }),
        }
    }};
}

/// Every request that changes something.
pub(crate) fn table(scene: &Scene) -> Vec<Row> {
    let mut rows = of_members(scene);
    rows.extend(of_names());
    rows.extend(of_objects(scene));
    rows.extend(of_histories(scene));
    rows.extend(of_histories_that_change_hands(scene));
    rows.extend(of_leases(scene));
    rows.extend(of_migrations(scene));
    rows.extend(of_workers(scene));
    rows.extend(of_rosters());
    rows
}

fn of_members(scene: &Scene) -> Vec<Row> {
    let settings = v1::ClusterUpdateSettingsRequest {
        request_id: None,
        patch: Some(v1::SettingsPatch {
            members_max: Some(9_999),
            ..v1::SettingsPatch::default()
        }),
        if_revision: Some(scene.settings_revision),
        dry_run: false,
    };
    let ready = v1::MembershipReadyRequest {
        request_id: None,
        member: Some(scene.joining.clone()),
    };
    let leave = v1::MembershipLeaveRequest {
        request_id: None,
        member: Some(scene.leaving.clone()),
        drained: true,
        ..v1::MembershipLeaveRequest::default()
    };
    let report = v1::StorageVersionsReportRequest {
        request_id: None,
        member: Some(scene.joining.clone()),
        entries: vec![voting("deployments", "apps/v1")],
        replace: true,
        number: 1,
    };
    let adopt = v1::StorageVersionsAdoptRequest {
        request_id: None,
        member: Some(scene.voter.clone()),
        resource: Some(resource("daemonsets")),
        selected_revision: scene.selected_revision,
        // Higher than any statement number used in these tests.
        number: 1 << 40,
    };
    let forget = v1::StorageVersionsForgetRequest {
        request_id: None,
        resource: Some(resource("forgotten")),
        if_revision: None,
        dry_run: false,
    };
    vec![
        row!(
            "Cluster.UpdateSettings",
            ClusterClient.update_settings,
            settings
        ),
        row!(
            "Membership.Join",
            MembershipClient.join,
            join("new", DAY_MS)
        ),
        row!("Membership.Ready", MembershipClient.ready, ready),
        row!("Membership.Leave", MembershipClient.leave, leave),
        row!(
            "StorageVersions.Report",
            StorageVersionsClient.report,
            report
        ),
        row!("StorageVersions.Adopt", StorageVersionsClient.adopt, adopt),
        row!(
            "StorageVersions.Forget",
            StorageVersionsClient.forget,
            forget
        ),
    ]
}

fn of_names() -> Vec<Row> {
    vec![
        row!(
            "StorageVersions.AddEquivalents",
            StorageVersionsClient.add_equivalents,
            v1::StorageVersionsAddEquivalentsRequest {
                resources: vec![resource("one"), resource("another")],
                ..v1::StorageVersionsAddEquivalentsRequest::default()
            }
        ),
        row!(
            "StorageVersions.RemoveEquivalent",
            StorageVersionsClient.remove_equivalent,
            v1::StorageVersionsRemoveEquivalentRequest {
                resource: Some(resource("parted")),
                ..v1::StorageVersionsRemoveEquivalentRequest::default()
            }
        ),
    ]
}

fn of_objects(scene: &Scene) -> Vec<Row> {
    let declare = v1::CollectionsCreateRequest {
        resource: Some(resource("new")),
        kind: "New".to_owned(),
        namespaced: true,
        ..v1::CollectionsCreateRequest::default()
    };
    let restrict = v1::CollectionsUpdateRequest {
        resource: Some(resource("widgets")),
        create_on_update: Some(true),
        ..v1::CollectionsUpdateRequest::default()
    };
    let remove = v1::CollectionsDeleteRequest {
        resource: Some(resource("empty")),
        ..v1::CollectionsDeleteRequest::default()
    };
    let create = v1::ObjectsCreateRequest {
        key: key("new"),
        content: content(r#"{"new":1}"#),
        ..v1::ObjectsCreateRequest::default()
    };
    let update = v1::ObjectsUpdateRequest {
        key: key("updated"),
        content: content(r#"{"updated":1}"#),
        preconditions: Some(v1::Preconditions {
            resource_version: Some(scene.updated),
            ..v1::Preconditions::default()
        }),
        ..v1::ObjectsUpdateRequest::default()
    };
    let patch = v1::ObjectsPatchRequest {
        key: key("patched"),
        patch: Some(v1::ContentPatch {
            encoding_version: "apps/v1".to_owned(),
            format: v1::PatchFormat::Json.into(),
            document: r#"[{"op":"add","path":"/list/-","value":1}]"#.into(),
        }),
        metadata_patch: Some(v1::MetadataPatch {
            format: v1::PatchFormat::Merge.into(),
            document: r#"{"labels":{"again":"yes"}}"#.into(),
        }),
        remove_ttl: true,
        ..v1::ObjectsPatchRequest::default()
    };
    let delete = v1::ObjectsDeleteRequest {
        key: key("deleted"),
        ..v1::ObjectsDeleteRequest::default()
    };
    let created = v1::CreateOperation {
        key: key("transacted"),
        content: content("{}"),
        ..v1::CreateOperation::default()
    };
    let transact = v1::ObjectsTransactRequest {
        operations: vec![v1::ObjectsOperation {
            operation: Some(v1::objects_operation::Operation::Create(created)),
        }],
        ..v1::ObjectsTransactRequest::default()
    };
    vec![
        row!("Collections.Create", CollectionsClient.create, declare),
        row!("Collections.Update", CollectionsClient.update, restrict),
        row!("Collections.Delete", CollectionsClient.delete, remove),
        row!("Objects.Create", ObjectsClient.create, create),
        row!("Objects.Update", ObjectsClient.update, update),
        row!("Objects.Patch", ObjectsClient.patch, patch),
        row!("Objects.Delete", ObjectsClient.delete, delete),
        row!("Objects.Transact", ObjectsClient.transact, transact),
    ]
}

fn of_histories(scene: &Scene) -> Vec<Row> {
    let update = v1::ControllerRevisionsUpdateRequest {
        namespace: "a".to_owned(),
        name: scene.snapshots[2].clone(),
        if_resource_version: Some(scene.snapshot_version),
        revision: Some(40),
        ..v1::ControllerRevisionsUpdateRequest::default()
    };
    let rollback = v1::ControllerRevisionsRollbackRequest {
        history: Some(history("kept")),
        to: Some(v1::controller_revisions_rollback_request::To::Name(
            scene.snapshots[0].clone(),
        )),
        ..v1::ControllerRevisionsRollbackRequest::default()
    };
    let mark = v1::ControllerRevisionsMarkLiveRequest {
        history: Some(history("kept")),
        current: Some(scene.snapshots[1].clone()),
        tie: Some(v1::MarkTie {
            to: Some(v1::mark_tie::To::Member(scene.joining.clone())),
        }),
        ..v1::ControllerRevisionsMarkLiveRequest::default()
    };
    let truncate = v1::ControllerRevisionsTruncateRequest {
        history: Some(history("truncated")),
        limit: Some(1),
        ..v1::ControllerRevisionsTruncateRequest::default()
    };
    let create = v1::ControllerRevisionsCreateRequest {
        mark_update: Some(v1::MarkTie { to: None }),
        ..wanting("kept", r#"{"new":1}"#)
    };
    vec![
        row!(
            "ControllerRevisions.Create",
            ControllerRevisionsClient.create,
            create
        ),
        row!(
            "ControllerRevisions.Update",
            ControllerRevisionsClient.update,
            update
        ),
        row!(
            "ControllerRevisions.Rollback",
            ControllerRevisionsClient.rollback,
            rollback
        ),
        row!(
            "ControllerRevisions.MarkLive",
            ControllerRevisionsClient.mark_live,
            mark
        ),
        row!(
            "ControllerRevisions.Truncate",
            ControllerRevisionsClient.truncate,
            truncate
        ),
    ]
}

fn of_histories_that_change_hands(scene: &Scene) -> Vec<Row> {
    let delete = v1::ControllerRevisionsDeleteRequest {
        namespace: "a".to_owned(),
        name: scene.deleted.clone(),
        ..v1::ControllerRevisionsDeleteRequest::default()
    };
    let delete_history = v1::ControllerRevisionsDeleteHistoryRequest {
        namespace: "a".to_owned(),
        owner_uid: history("gone").owner.unwrap().uid,
        ..v1::ControllerRevisionsDeleteHistoryRequest::default()
    };
    let adopt = v1::ControllerRevisionsAdoptRequest {
        history: Some(history("adopting")),
        name: scene.orphan.clone(),
        ..v1::ControllerRevisionsAdoptRequest::default()
    };
    let release = v1::ControllerRevisionsReleaseRequest {
        namespace: "a".to_owned(),
        name: scene.released.clone(),
        owner_uid: history("releasing").owner.unwrap().uid,
        ..v1::ControllerRevisionsReleaseRequest::default()
    };
    vec![
        row!(
            "ControllerRevisions.Delete",
            ControllerRevisionsClient.delete,
            delete
        ),
        row!(
            "ControllerRevisions.DeleteHistory",
            ControllerRevisionsClient.delete_history,
            delete_history
        ),
        row!(
            "ControllerRevisions.Adopt",
            ControllerRevisionsClient.adopt,
            adopt
        ),
        row!(
            "ControllerRevisions.Release",
            ControllerRevisionsClient.release,
            release
        ),
    ]
}

fn of_leases(scene: &Scene) -> Vec<Row> {
    let acquire = v1::LeasesAcquireRequest {
        lease: lease("free"),
        holder: "one".to_owned(),
        ttl_ms: Some(DAY_MS),
        ..v1::LeasesAcquireRequest::default()
    };
    let release = v1::LeasesReleaseRequest {
        lease: lease("held"),
        holder: "one".to_owned(),
        token: Some(scene.token),
        ..v1::LeasesReleaseRequest::default()
    };
    let delete = v1::LeasesDeleteRequest {
        lease: lease("deleted"),
        ..v1::LeasesDeleteRequest::default()
    };
    let withdraw = v1::LeasesWithdrawCandidateRequest {
        request_id: None,
        candidate: contender("two"),
    };
    vec![
        row!("Leases.Acquire", LeasesClient.acquire, acquire),
        row!("Leases.Release", LeasesClient.release, release),
        row!("Leases.Delete", LeasesClient.delete, delete),
        row!(
            "Leases.PutCandidate",
            LeasesClient.put_candidate,
            scene.stands("one")
        ),
        row!(
            "Leases.WithdrawCandidate",
            LeasesClient.withdraw_candidate,
            withdraw
        ),
    ]
}

fn of_migrations(scene: &Scene) -> Vec<Row> {
    let start = v1::MigrationsStartRequest {
        request_id: None,
        resource: Some(group_resource("starting")),
        reason: v1::MigrationReason::Manual.into(),
        dry_run: false,
        alias: Some("started".to_owned()),
    };
    let abort = v1::MigrationsAbortRequest {
        request_id: None,
        name: scene.migrating.name("aborting"),
        dry_run: false,
    };
    let delete = v1::MigrationsDeleteRequest {
        name: scene.migrating.name("deleting"),
        ..v1::MigrationsDeleteRequest::default()
    };
    let retry = v1::MigrationsRetryRequest {
        request_id: None,
        name: scene.migrating.name("retrying"),
        dry_run: false,
    };
    let observe = v1::MigrationsObserveRequest {
        request_id: None,
        resource: Some(group_resource("observed")),
        hashes: vec!["8aSe+NMegvE=".to_owned()],
        kind: Some("Observed".to_owned()),
        ..v1::MigrationsObserveRequest::default()
    };
    // What the one before has observed.
    let dismiss = v1::MigrationsDismissRequest {
        resource: Some(group_resource("observed")),
        ..v1::MigrationsDismissRequest::default()
    };
    let reset = v1::MigrationsResetRequest {
        request_id: None,
        resource: Some(group_resource("resetting")),
        dry_run: false,
    };
    vec![
        row!("Migrations.Start", MigrationsClient.start, start),
        row!("Migrations.Abort", MigrationsClient.abort, abort),
        row!("Migrations.Delete", MigrationsClient.delete, delete),
        row!("Migrations.Retry", MigrationsClient.retry, retry),
        row!("Migrations.Observe", MigrationsClient.observe, observe),
        row!("Migrations.Dismiss", MigrationsClient.dismiss, dismiss),
        row!("Migrations.Reset", MigrationsClient.reset, reset),
    ]
}

fn of_workers(scene: &Scene) -> Vec<Row> {
    let claim = v1::MigrationsClaimRequest {
        request_id: None,
        name: scene.migrating.name("claiming"),
        worker: "two".to_owned(),
        ttl_ms: Some(DAY_MS),
        ..v1::MigrationsClaimRequest::default()
    };
    let progress = v1::MigrationsProgressRequest {
        request_id: None,
        claim: scene.migrating.claim_of("progressing"),
        progress: Some(v1::MigrationProgress {
            done: 1,
            estimate: Some(2),
            continue_token: "after".to_owned(),
        }),
    };
    let complete = v1::MigrationsCompleteRequest {
        request_id: None,
        claim: scene.migrating.claim_of("completing"),
    };
    let fail = scene.migrating.fail("failing");
    let release = v1::MigrationsReleaseRequest {
        request_id: None,
        claim: scene.migrating.claim_of("releasing"),
        ..v1::MigrationsReleaseRequest::default()
    };
    vec![
        row!("Migrations.Claim", MigrationsClient.claim, claim),
        row!("Migrations.Progress", MigrationsClient.progress, progress),
        row!("Migrations.Complete", MigrationsClient.complete, complete),
        row!("Migrations.Fail", MigrationsClient.fail, fail),
        row!("Migrations.Release", MigrationsClient.release, release),
    ]
}

/// Rosters for resources that do not exist in the scene.
fn of_rosters() -> Vec<Row> {
    let set = v1::RostersSetRequest {
        request_id: None,
        scope: "unused.example.*".to_owned(),
        rule: Some(v1::RosterRule {
            least: 1,
            ..v1::RosterRule::default()
        }),
        if_revision: Some(0),
        dry_run: false,
    };
    let delete = v1::RostersDeleteRequest {
        request_id: None,
        scope: "deleted.example.*".to_owned(),
        if_revision: None,
        dry_run: false,
    };
    vec![
        row!("Rosters.Set", RostersClient.set, set),
        row!("Rosters.Delete", RostersClient.delete, delete),
    ]
}
