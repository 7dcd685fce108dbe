//! The cases of Kubernetes' storage version migrator, its trigger and the in-tree migrator.
//!
//! Kubernetes' tests write objects and read them again; here commands bring a case about.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use synod_model::{
    FailureClass, GroupResource, Kind, Migration, MigrationId, MigrationPhase, MigrationReason,
    ObserveStorage, Persisted, Report, ReportEntry, Stance, StartMigration, StorageVersionHash,
    StoredIn,
};

use super::suite::{self, Case};
use super::{expect_eq, text, texts};
use crate::cluster::{Cluster, Server, accepted, complete, fail};
use crate::entry::{of, resource, version};
use crate::said::next_number;
use synod_machine::Command;

const PODS: &str = "pods";

fn hash_of(name: &str) -> StorageVersionHash {
    let mut bytes = [b' '; 8];
    for (byte, letter) in bytes.iter_mut().zip(name.bytes()) {
        *byte = letter;
    }
    StorageVersionHash::from_bytes(bytes)
}

fn observe(cluster: &mut Cluster, name: &str) {
    accepted(
        cluster.send(Command::ObserveStorage(ObserveStorage::unnamed(
            resource(PODS),
            [hash_of(name)].into(),
        ))),
    );
}

fn start(cluster: &mut Cluster, name: &str, reason: MigrationReason) -> MigrationId {
    let before = cluster.revision();
    accepted(cluster.send(Command::StartMigration(StartMigration {
        resource: resource(name),
        reason,
        alias: None,
    })));
    MigrationId::new(resource(name), before.next())
}

#[test]
fn trigger_controller() {
    suite::run(
        "trigger_controller.json",
        10,
        &[],
        |section, case| match section {
            "cases" => triggered(case),
            "derived" => derived(case),
            "storage_state_name" => {
                let name = GroupResource::new(text(case, "group"), text(case, "resource"));
                let name = name.map_err(|violations| violations.to_string())?;
                let expected = text(case, "expectedName");
                expect_eq("name", &name.storage_state_name(), &expected)
            }
            other => Err(format!("an unknown section: {other}")),
        },
    );
}

fn triggered(case: &Case<'_>) -> Result<(), String> {
    let mut cluster = Cluster::formed();
    let state = &case["state"];
    let persisted = texts(&state["persisted"]);
    let current = state["current"].as_str().unwrap_or("oldhash");
    if !state.is_null() {
        observe(&mut cluster, current);
    }
    if state["current"].is_string() && !persisted.contains(&"Unknown") {
        cluster.migrates(PODS);
    }
    if case["migrations"][0][1] == "Failed" {
        let work = cluster.claims(PODS, "one");
        accepted(cluster.send(fail(&work, FailureClass::Forbidden)));
    }
    let deletes = case["deletedMigrations"].as_u64().unwrap_or(0) > 0;
    if deletes
        && cluster
            .migrations(PODS)
            .iter()
            .any(|m| m.phase == MigrationPhase::Succeeded)
    {
        start(&mut cluster, PODS, MigrationReason::Manual);
    }
    let before = cluster.migrations(PODS);
    let age = state["heartbeatAgeMin"].as_u64().unwrap_or(0);
    cluster.pass(Duration::from_secs(age * 60));
    observe(&mut cluster, "newhash");
    check_after(&cluster, &case["stateAfter"])?;
    let after = cluster.migrations(PODS);
    let created = after.len() - before.len();
    expect_eq(
        "createdMigrations",
        &(created as u64),
        &case["createdMigrations"].as_u64().unwrap_or(0),
    )?;
    let still = |old: &&Migration| {
        let now = cluster.migration(&old.id).phase;
        matches!(
            now,
            MigrationPhase::Pending | MigrationPhase::Running | MigrationPhase::Failed
        )
    };
    let left = before.iter().filter(still).count();
    expect_eq("migrations left", &(left == 0 || !deletes), &true)
}

fn check_after(cluster: &Cluster, after: &Value) -> Result<(), String> {
    let kept = cluster.kept(PODS);
    let current: BTreeSet<_> = [hash_of(text(after, "current"))].into();
    let shown = kept.observation.map(|observation| observation.hashes);
    expect_eq("current", &shown, &Some(current))?;
    let expected: BTreeSet<Option<StorageVersionHash>> = texts(&after["persisted"])
        .into_iter()
        .map(|name| (name != "Unknown").then(|| hash_of(name)))
        .collect();
    let found: BTreeSet<_> = kept.persisted.iter().map(Persisted::hash).collect();
    expect_eq("persisted", &found, &expected)?;
    let listed = texts(&after["persisted"]).len();
    expect_eq("persisted", &found.len(), &listed)?;
    let heartbeat = cluster.state.heartbeat(&resource(PODS)).map(|it| it.at);
    let heartbeat = if heartbeat == Some(cluster.now()) {
        "now"
    } else {
        "before"
    };
    expect_eq("heartbeat", &Some(heartbeat), &after["heartbeat"].as_str())
}

fn derived(case: &Case<'_>) -> Result<(), String> {
    let mut cluster = Cluster::formed();
    let created = |cluster: &Cluster, before: usize| {
        let created = (cluster.migrations(PODS).len() - before) as u64;
        let expected = case["createdMigrations"].as_u64();
        expect_eq("createdMigrations", &Some(created), &expected)
    };
    match text(case, "name") {
        name if name.starts_with("empty storageVersionHash") => {
            let nothing = ObserveStorage::unnamed(resource(PODS), BTreeSet::new());
            assert!(!nothing.check().is_empty(), "the edge lets it through");
            let known = cluster.state.present().storage_state(&resource(PODS));
            expect_eq("state", &known.is_none(), &case["stateAfter"].is_null())?;
            created(&cluster, 0)
        }
        name if name.starts_with("flip back") => {
            for hash in texts(&case["state"]["persisted"]) {
                observe(&mut cluster, hash);
                // The encoding that was shown before may be written until this has passed.
                cluster.pass(Duration::from_secs(70));
                cluster.migrates(PODS);
            }
            observe(&mut cluster, text(case, "discovered"));
            check_after(&cluster, &case["stateAfter"])
        }
        name if name.starts_with("not migrated but") => {
            observe(&mut cluster, "A");
            let before = (cluster.revision(), cluster.migrations(PODS));
            cluster.pass(Duration::from_secs(600));
            observe(&mut cluster, "A");
            let after = (cluster.revision(), cluster.migrations(PODS));
            expect_eq("heartbeat only", &after, &before)?;
            created(&cluster, before.1.len())
        }
        name => Err(format!("an unknown case: {name}")),
    }
}

/// A migration of pods in every phase that it can have.
fn in_phase(phase: &str) -> (Cluster, MigrationId) {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of(PODS), of("apps.deployments")]);
    let id = cluster.open(PODS).id;
    if phase != "Pending" {
        let work = cluster.claims(PODS, "one");
        match phase {
            "Running" => {}
            "Succeeded" => drop(accepted(cluster.send(complete(&work)))),
            "Failed" => drop(accepted(cluster.send(fail(&work, FailureClass::Forbidden)))),
            other => panic!("no phase of theirs: {other}"),
        }
    }
    (cluster, id)
}

#[test]
fn migration_status_index() {
    suite::run("migration_status_index.json", 7, &[], |section, case| {
        if section == "resource_index" {
            return hits(case);
        }
        let (cluster, id) = in_phase(case["condition"].as_str().unwrap_or("Pending"));
        let migration = cluster.migration(&id);
        let index = match (migration.is_open(), migration.claim.is_some()) {
            (true, false) => "Pending",
            (true, true) => "Running",
            (false, _) => "Completed",
        };
        expect_eq("index", &index, &text(case, "index"))
    });
}

/// The objects are in the first case, and count for all cases.
fn hits(case: &Case<'_>) -> Result<(), String> {
    let document = suite::document("migration_status_index.json");
    let objects = &document["resource_index"][0]["objects"];
    assert!(case["objects"].is_null() || case["objects"] == *objects);
    let mut cluster = Cluster::formed();
    let server = cluster.joins("a");
    for object in objects.as_array().into_iter().flatten() {
        // Each version of it is agreed on in turn, which starts a migration to it.
        let encoding = texts(object).get(1).copied().unwrap_or_default();
        let entry = says(named(object)?, encoding);
        report(&mut cluster, &server, entry);
    }
    let found = cluster.state.migrations_of(&named(&case["query"])?).count() as u64;
    expect_eq("hits", &Some(found), &case["hits"].as_u64())
}

/// The resource of a group, a version and a resource.
fn named(object: &Value) -> Result<GroupResource, String> {
    let [group, _, name] = texts(object)[..] else {
        return Err(format!("no group, version and resource: {object}"));
    };
    let group = if group == "core" { "" } else { group };
    GroupResource::new(group, name).map_err(|fault| fault.to_string())
}

fn says(resource: GroupResource, encoding: &str) -> ReportEntry {
    let versions = || ["v1", "v2"].map(version).into_iter().collect();
    ReportEntry {
        resource,
        kind: Kind::parse("Pod").expect("a legal kind"),
        decodable: versions(),
        served: versions(),
        stance: Stance::Fixed {
            encoding: version(encoding),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

fn report(cluster: &mut Cluster, server: &Server, entry: ReportEntry) {
    accepted(cluster.send(Command::Report(Report {
        member: server.id.clone(),
        epoch: server.epoch,
        number: next_number(server),
        entries: vec![entry],
        replace: false,
    })));
}
