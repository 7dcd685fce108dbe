//! What each command prints in each format, for the answers of a replica.

use std::time::Duration;

use clap::ValueEnum as _;
use synod_client::{
    AgreementQuery, ApiVersion, Client, CollectionRules, ControllerHistory, CreateCollection,
    DeleteCollection, DeleteObject, DeleteRoster, Fences, GroupResource, Kind, Labels, LeaseKey,
    ListCollections, ListControllerRevisions, ListMembers, ListMigrations, ListObjects,
    ListRosters, ListStorageVersions, LogFilter, LogFilterView, MemberId, Namespace,
    NamespacedName, ObjectKey, ObjectName, Preconditions, ReadOptions, Revision, RollbackTarget,
    SetRoster, SettingsPatch, TtlChange, UpdateObject, WallTime, WatchFrom, WatchOptions,
};
use tokio::time::Instant;

use super::golden;
use super::stand_in::{StandIn, fixture};
use crate::commands::doctor::{Finding, Verdict};
use crate::commands::watch;
use crate::output::{Document, Format, Table};
use crate::views::{self, EndpointLog, EndpointStatus, Sample};

/// The name of the stand-in in the golden files: its port differs each time.
const ENDPOINT: &str = "10.0.0.2:4600";

const NOW: WallTime = WallTime::from_millis(fixture::NOW_MS);

pub(super) async fn stand_in() -> (StandIn, Client) {
    let stand_in = StandIn::start(fixture::part()).await;
    let client = Client::builder()
        .endpoints(vec![stand_in.endpoint()])
        .connect()
        .await
        .unwrap();
    (stand_in, client)
}

pub(super) fn check(command: &str, document: &Document) {
    let forms = Format::value_variants().iter().map(|format| {
        let name = format.to_possible_value().unwrap().get_name().to_owned();
        (name, document.render(*format))
    });
    golden::check(command, &forms.collect::<Vec<_>>());
}

#[tokio::test]
async fn the_status_in_every_form() {
    let (stand_in, client) = stand_in().await;
    let seen = client.status().await.unwrap();
    let nobody = Client::builder()
        .endpoints(vec![fixture::UNREACHABLE.to_owned()])
        .connect()
        .await
        .unwrap();
    let unreachable = nobody.status_of(fixture::UNREACHABLE).await.unwrap_err();
    drop(stand_in);
    let answers = [
        EndpointStatus {
            endpoint: ENDPOINT.to_owned(),
            status: Ok(seen.clone()),
        },
        EndpointStatus {
            endpoint: fixture::UNREACHABLE.to_owned(),
            status: Err(unreachable),
        },
    ];
    check("status", &views::status(&seen, &answers));
}

#[tokio::test]
async fn what_replicas_log_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let header = client.status().await.unwrap().header;
    let log_filter = LogFilter {
        filter: "synod_server=debug,info".to_owned(),
        configured: "info,openraft=error".to_owned(),
        remaining: Some(Duration::from_secs(300)),
    };
    let unknown = client.log_filter_of(fixture::UNREACHABLE).await;
    let answers = [
        EndpointLog {
            endpoint: ENDPOINT.to_owned(),
            answer: Ok(LogFilterView { header, log_filter }),
        },
        EndpointLog {
            endpoint: fixture::UNREACHABLE.to_owned(),
            answer: unknown,
        },
    ];
    check("log-level", &views::log_filters(&answers));
}

#[test]
fn what_the_doctor_finds_in_every_form() {
    let finding = |verdict, what: &str, advice: &str| Finding {
        check: "disk",
        place: "replica 2".to_owned(),
        verdict,
        what: what.to_owned(),
        advice: advice.to_owned(),
    };
    let findings = [
        finding(Verdict::Ok, "its last 128 writes took 0.4 ms", ""),
        finding(Verdict::Warning, "they took 40 ms", "give it another disk"),
        finding(Verdict::Fault, "it does not write", "replace it"),
    ];
    check("doctor", &views::findings(&findings));
}

#[tokio::test]
async fn the_table_of_top_has_rates_from_its_second_round_on() {
    let (_stand_in, client) = stand_in().await;
    let seen = client.status().await.unwrap();
    let at = Instant::now();
    let sample = |at, grown: u64| {
        let mut status = seen.clone();
        status.applied_index += grown;
        let answer = EndpointStatus {
            endpoint: ENDPOINT.to_owned(),
            status: Ok(status),
        };
        Sample {
            at,
            answers: vec![answer],
        }
    };
    let before = sample(at, 0);
    let now = sample(at + Duration::from_secs(2), 30);
    for (name, before) in [("first", None), ("second", Some(&before))] {
        let tables = views::top(&now, before);
        let text: Vec<String> = tables.iter().map(Table::render).collect();
        golden::check(
            &format!("top-{name}"),
            &[("table".to_owned(), text.join("\n"))],
        );
    }
}

#[tokio::test]
async fn members_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let page = client.members(ListMembers::new()).all().await.unwrap();
    check("members-list", &views::members(&page, NOW));
    let id = MemberId::parse("server-a").unwrap();
    let view = client
        .member(&id, ReadOptions::linearizable())
        .await
        .unwrap();
    check("members-get", &views::member(&view, NOW));
}

#[tokio::test]
async fn collections_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let collections = client.collections();
    let page = collections.list(&ListCollections::new()).all().await;
    check("collections-list", &views::collections(&page.unwrap(), NOW));
    let widgets = GroupResource::new("example.io", "widgets").unwrap();
    let view = collections.get(&widgets, ReadOptions::linearizable()).await;
    check("collections-get", &views::collection(&view.unwrap(), NOW));
    let create = CreateCollection {
        resource: widgets.clone(),
        kind: Kind::parse("Widget").unwrap(),
        namespaced: true,
        rules: CollectionRules::default(),
    };
    let changed = collections.create(create).await.unwrap();
    check(
        "collections-create",
        &views::collection_changed(&changed, &widgets),
    );
    let delete = DeleteCollection {
        resource: widgets.clone(),
        preconditions: Preconditions::default(),
    };
    let header = collections.delete(delete).await.unwrap();
    check(
        "collections-delete",
        &views::collection_deleted(&header, &widgets),
    );
}

#[tokio::test]
async fn objects_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let widgets = GroupResource::new("example.io", "widgets").unwrap();
    let collection = client
        .collections()
        .get(&widgets, ReadOptions::linearizable())
        .await
        .unwrap()
        .item
        .collection;
    let objects = client.raw_objects();
    let page = objects.list(&ListObjects::new(widgets.clone())).all().await;
    check(
        "get-list",
        &views::objects(&page.unwrap(), &collection, NOW),
    );
    let namespace = Namespace::parse("team-a").unwrap();
    let name = ObjectName::parse("my-widget").unwrap();
    let key = ObjectKey::new(widgets, Some(&namespace), &name);
    let view = objects
        .get(&key, ReadOptions::linearizable())
        .await
        .unwrap();
    check("get-one", &views::object(&view, &collection, NOW));
    let update = UpdateObject {
        key: key.clone(),
        attributes: view.object.attributes,
        content: view.object.content,
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    };
    let updated = objects.update(update).await.unwrap();
    let delete = DeleteObject {
        key: key.clone(),
        propagation: None,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    };
    let deleted = objects.delete(delete).await.unwrap();
    check(
        "replace",
        &views::written(&[(key.clone(), updated.clone())]),
    );
    check(
        "replace-many",
        &views::written(&[(key.clone(), updated), (key, deleted)]),
    );
}

#[tokio::test]
async fn histories_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let page = client.controller_revisions(ListControllerRevisions::new());
    let page = page.await.unwrap();
    check("history-list", &views::controller_revisions(&page, NOW));
    let namespace = Namespace::parse("team-a").unwrap();
    let name = ObjectName::parse("web-5b7d4c").unwrap();
    let key = NamespacedName::new(Some(&namespace), &name);
    let view = client.controller_revision(&key, ReadOptions::linearizable());
    check(
        "history-show",
        &views::controller_revision(&view.await.unwrap(), NOW),
    );
    let diff = client.diff_controller_revisions(&namespace, None, Some(&name));
    check("history-diff", &views::revision_diff(&diff.await.unwrap()));
    let owner = page.items[0].controller.clone().unwrap();
    let history = client.history(ControllerHistory {
        namespace,
        owner,
        selector: Labels::default(),
    });
    let done = history.rollback(RollbackTarget::Previous, None, true);
    check(
        "history-rollback",
        &views::rolled_back(&done.await.unwrap()),
    );
    let done = history.truncate(3, None, true);
    check("history-truncate", &views::truncated(&done.await.unwrap()));
}

#[tokio::test]
async fn leases_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let page = client.leases(None, ReadOptions::linearizable()).await;
    check("lease-list", &views::leases(&page.unwrap(), NOW));
    let key = LeaseKey::new("default", "backup").unwrap();
    let view = client.lease(&key, ReadOptions::linearizable()).await;
    check("lease-get", &views::lease(&view.unwrap(), NOW));
}

#[tokio::test]
async fn migrations_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let page = client.migrations(ListMigrations::new()).all().await;
    let page = page.unwrap();
    check("migrations-list", &views::migrations(&page, NOW));
    let view = client.migration(&page.items[0].id, ReadOptions::linearizable());
    check(
        "migrations-get",
        &views::migration(&view.await.unwrap(), NOW),
    );
}

#[tokio::test]
async fn rosters_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let rosters = client.rosters();
    let page = rosters.list(&ListRosters::new()).all().await.unwrap();
    check("rosters-list", &views::rosters(&page, NOW));
    let first = page.items[0].clone();
    let view = rosters.get(&first.scope, ReadOptions::linearizable()).await;
    check("rosters-get", &views::roster(&view.unwrap(), NOW));
    let set = SetRoster {
        scope: first.scope.clone(),
        rule: first.rule,
        if_revision: None,
    };
    let changed = rosters.set(set).await.unwrap();
    check(
        "rosters-set",
        &views::roster_changed(&changed, &first.scope),
    );
    let delete = DeleteRoster {
        scope: first.scope.clone(),
        if_revision: None,
    };
    let header = rosters.delete(delete).await.unwrap();
    check(
        "rosters-delete",
        &views::roster_deleted(&header, &first.scope),
    );
}

#[tokio::test]
async fn what_is_assumed_in_every_form() {
    let mut part = fixture::part();
    part.dangers.dangers.clear();
    part.dangers.safe = true;
    let stand_in = StandIn::start(part).await;
    let client = Client::builder()
        .endpoints(vec![stand_in.endpoint()])
        .connect()
        .await
        .unwrap();
    let resource = GroupResource::new("batch", "jobs").unwrap();
    let version = ApiVersion::parse("batch/v1").unwrap();
    let safety = client.check_drop(&resource, &version, ReadOptions::linearizable());
    check("check-drop-assumed", &views::safety(&safety.await.unwrap()));
}

#[tokio::test]
async fn what_is_not_safe_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let resource = GroupResource::new("batch", "jobs").unwrap();
    let version = ApiVersion::parse("batch/v1").unwrap();
    let safety = client.check_drop(&resource, &version, ReadOptions::linearizable());
    check("check-drop", &views::safety(&safety.await.unwrap()));
}

#[tokio::test]
async fn storage_versions_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let page = client
        .storage_versions(ListStorageVersions::new())
        .all()
        .await
        .unwrap();
    check(
        "storage-versions-list",
        &views::storage_versions(&page, NOW),
    );
    check("topics-list", &views::topics(&page, NOW));
    check("storage-versions-matrix", &views::matrix(&page));
}

#[tokio::test]
async fn what_is_agreed_on_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let query = AgreementQuery::new();
    let agreement = client.check_agreement(&query, ReadOptions::linearizable());
    check(
        "storage-versions-check",
        &views::agreement(&agreement.await.unwrap()),
    );
}

#[tokio::test]
async fn what_stands_in_the_way_of_an_upgrade_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let status = client.check_upgrade(ReadOptions::linearizable());
    check("upgrade-status", &views::upgrade(&status.await.unwrap()));
}

#[tokio::test]
async fn one_storage_version_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let resource = "core.pods";
    let resource = GroupResource::parse_storage_version_name(resource).unwrap();
    let view = client
        .storage_version(&resource, ReadOptions::linearizable())
        .await
        .unwrap();
    check("storage-versions-get", &views::storage_version(&view, NOW));
    check("topics-get", &views::topic(&view, NOW));
    let history = client
        .agreement_history(&resource, ReadOptions::linearizable())
        .await
        .unwrap();
    check("storage-versions-history", &views::history(&history, NOW));
}

#[tokio::test]
async fn a_storage_version_that_nobody_reports_in_every_form() {
    let mut part = fixture::part();
    part.storage_version = fixture::unreported();
    let stand_in = StandIn::start(part).await;
    let client = Client::builder()
        .endpoints(vec![stand_in.endpoint()])
        .connect()
        .await
        .unwrap();
    let resource = GroupResource::new("batch", "jobs").unwrap();
    let view = client
        .storage_version(&resource, ReadOptions::linearizable())
        .await
        .unwrap();
    check(
        "storage-versions-get-unreported",
        &views::storage_version(&view, NOW),
    );
}

#[tokio::test]
async fn settings_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let view = client.settings(ReadOptions::linearizable()).await.unwrap();
    check("settings-get", &views::settings(&view));
    let patch = SettingsPatch {
        members_max: Some(500),
        ..SettingsPatch::default()
    };
    let changed = client.update_settings(patch, None).await.unwrap();
    let names = vec!["members_max".to_owned()];
    check("settings-set", &views::settings_changed(&changed, names));
}

#[tokio::test]
async fn a_watch_line_by_line() {
    let (_stand_in, client) = stand_in().await;
    let options = WatchOptions::new().from(WatchFrom::Now);
    let mut watch = client.watch(options).await.unwrap();
    let mut lines = String::new();
    while !lines.contains("\"bookmark\":{\"revision\":\"50\"}") {
        let message = watch.next().await.unwrap().unwrap();
        if let Some(line) = watch::line(&message, true) {
            lines += &format!("{line}\n");
        }
    }
    golden::check("watch", &[("json".to_owned(), lines)]);
}

#[tokio::test]
async fn a_watch_that_has_to_begin_anew() {
    let mut part = fixture::part();
    part.watches.insert(0, vec![fixture::compacted(40, 47)]);
    let stand_in = StandIn::start(part).await;
    let client = Client::builder()
        .endpoints(vec![stand_in.endpoint()])
        .connect()
        .await
        .unwrap();
    let options = WatchOptions::new().from(WatchFrom::Revision(Revision::new(5)));
    let mut watch = client.watch(options).await.unwrap();
    let message = watch.next().await.unwrap().unwrap();
    let line = watch::line(&message, false).unwrap();
    golden::check("resync", &[("json".to_owned(), format!("{line}\n"))]);
}
