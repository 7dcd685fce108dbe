//! What Kubernetes' migrator, its trigger and the one in its tree are tested with.
//!
//! They write objects and look at them again; here a case is brought about by commands.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use synod_model::{
    ErrorKind, FailureClass, GroupResource, Migration, MigrationId, MigrationPhase,
    MigrationReason, ObserveStorage, Persisted, Revision, StartMigration, StorageVersionHash,
};

use super::{expect_eq, suite, text, texts};
use crate::cluster::{Cluster, accepted, claim, complete, fail, progress, refused};
use crate::entry::{of, resource};
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
    accepted(cluster.send(Command::ObserveStorage(ObserveStorage {
        resource: resource(PODS),
        kind: None,
        hashes: [hash_of(name)].into(),
    })));
}

fn start(cluster: &mut Cluster, name: &str, reason: MigrationReason) -> MigrationId {
    let before = cluster.revision();
    accepted(cluster.send(Command::StartMigration(StartMigration {
        resource: resource(name),
        reason,
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
                expect_eq("name", &name.storage_state_name(), &text(case, "name"))
            }
            other => Err(format!("an unknown section: {other}")),
        },
    );
}

fn triggered(case: &Value) -> Result<(), String> {
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
    let heartbeat = cluster.state.heartbeat(&resource(PODS));
    expect_eq(
        "heartbeat",
        &heartbeat.map(|it| it.at),
        &Some(cluster.now()),
    )
}

fn derived(case: &Value) -> Result<(), String> {
    let mut cluster = Cluster::formed();
    match text(case, "name") {
        name if name.starts_with("empty storageVersionHash") => {
            let nothing = ObserveStorage {
                resource: resource(PODS),
                kind: None,
                hashes: BTreeSet::new(),
            };
            expect_eq("ignored", &nothing.check().is_empty(), &false)
        }
        name if name.starts_with("flip back") => {
            observe(&mut cluster, "A");
            cluster.migrates(PODS);
            observe(&mut cluster, "B");
            observe(&mut cluster, "A");
            check_after(&cluster, &case["stateAfter"])
        }
        name if name.starts_with("not migrated but") => {
            observe(&mut cluster, "A");
            let before = (cluster.revision(), cluster.migrations(PODS));
            cluster.pass(Duration::from_secs(600));
            observe(&mut cluster, "A");
            expect_eq(
                "heartbeat only",
                &(cluster.revision(), cluster.migrations(PODS)),
                &before,
            )
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

fn hits(case: &Value) -> Result<(), String> {
    let mut cluster = Cluster::formed();
    let both = of(PODS).decodes("v1 v2");
    let jobs = of("batch.jobs");
    let a = cluster.starts("a", &[both.clone().encodes("v1"), of("nodes"), jobs]);
    cluster.reports(&a, &[both.encodes("v2")]);
    let query = texts(&case["query"]);
    let group = if query[0] == "core" { "" } else { query[0] };
    let asked = GroupResource::new(group, query[2]).map_err(|fault| fault.to_string())?;
    let found = cluster.state.migrations_of(&asked).count() as u64;
    expect_eq("hits", &found, &case["hits"].as_u64().unwrap_or(0))
}

#[test]
fn svm_runner() {
    suite::run("svm_runner.json", 5, &[], |_, case| {
        match text(case, "name") {
            "CRD exists" => {
                let (cluster, id) = in_phase("Running");
                expect_eq(
                    "phase",
                    &cluster.migration(&id).phase,
                    &MigrationPhase::Running,
                )
            }
            "already running" => {
                let (mut cluster, id) = in_phase("Running");
                let before = cluster.revision();
                refused(cluster.send(claim(&id, "two")), ErrorKind::Conflict);
                expect_eq("revision", &cluster.revision(), &before)
            }
            "succeeded, generation unchanged" => {
                let mut cluster = Cluster::formed();
                let a = cluster.starts("a", &[of(PODS).decodes("v1 v2").encodes("v1")]);
                cluster.reports(&a, &[of(PODS).decodes("v1 v2").encodes("v2")]);
                cluster.migrates(PODS);
                expect_eq("stored", &cluster.persisted(PODS), &vec!["v2".to_owned()])
            }
            "cleanup of a terminal SVM" => {
                let (cluster, id) = in_phase("Succeeded");
                expect_eq("claim", &cluster.migration(&id).claim, &None)
            }
            "promote older first" => {
                let (mut cluster, older) = in_phase("Pending");
                let newer = start(&mut cluster, PODS, MigrationReason::Manual);
                refused(cluster.send(claim(&newer, "one")), ErrorKind::Conflict);
                accepted(cluster.send(claim(&older, "one")));
                Ok(())
            }
            name => Err(format!("an unknown case: {name}")),
        }
    });
}

#[test]
fn svm_sync() {
    suite::run("svm_sync.json", 3, &[], |_, case| {
        let (mut cluster, id) = in_phase("Pending");
        if text(case, "name") == "SVM not found" {
            let before = cluster.revision();
            let unheard = MigrationId::new(resource(PODS), Revision::new(1 << 40));
            refused(cluster.send(claim(&unheard, "one")), ErrorKind::NotFound);
            return expect_eq("writes", &cluster.revision(), &before);
        }
        let work = cluster.claims(PODS, "one");
        accepted(cluster.send(fail(&work, FailureClass::NotSupported)));
        let failed = cluster.migration(&id);
        expect_eq("phase", &failed.phase, &MigrationPhase::Failed)?;
        expect_eq("running", &failed.claim, &None)
    });
}

#[test]
fn svm_validate_create() {
    suite::run("svm_validate_create.json", 1, &[], |_, _| {
        let (mut cluster, _) = in_phase("Pending");
        start(&mut cluster, "apps.deployments", MigrationReason::Manual);
        Ok(())
    });
}

#[test]
fn svm_validate_update() {
    suite::run("svm_validate_update.json", 2, &[], |_, case| {
        match text(case, "change") {
            "metadata.labels" => {
                Err("a migration has no labels, and nobody can update one".to_owned())
            }
            _ => expect_eq("refused", &GroupResource::new("apps", "").is_err(), &true),
        }
    });
}

#[test]
fn svm_validate_status_update() {
    suite::run("svm_validate_status_update.json", 6, &[], |_, case| {
        match text(case, "name") {
            "running->failed" => {
                let (cluster, id) = in_phase("Failed");
                expect_eq(
                    "phase",
                    &cluster.migration(&id).phase,
                    &MigrationPhase::Failed,
                )
            }
            "failed true->false" => {
                let (mut cluster, id) = in_phase("Failed");
                let retry = Command::RetryMigration(synod_model::RetryMigration { id });
                let refused = cluster.send(retry).result.is_err();
                expect_eq("refused", &refused, &true)
            }
            _ => {
                // What succeeded stays so: nothing that can be said of it is taken.
                let (mut cluster, id) = in_phase("Succeeded");
                let work = crate::cluster::Work {
                    token: synod_model::ClaimToken::new(cluster.revision()),
                    progress: synod_model::MigrationProgress::default(),
                    id: id.clone(),
                };
                let class = FailureClass::Transient;
                for said in [progress(&work, 1), fail(&work, class), claim(&id, "one")] {
                    refused(cluster.send(said), ErrorKind::Conflict);
                }
                let now = cluster.migration(&id);
                expect_eq("phase", &now.phase, &MigrationPhase::Succeeded)?;
                expect_eq("running", &now.claim, &None)
            }
        }
    });
}
