//! The cases of Kubernetes' storage version migrator, its trigger and the in-tree migrator.
//!
//! Kubernetes' tests write objects and read them again; here commands bring a case about.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use synod_model::{
    ClaimToken, ErrorKind, FailureClass, GroupResource, Kind, Migration, MigrationId,
    MigrationPhase, MigrationProgress, MigrationReason, ObserveStorage, Persisted, Report,
    ReportEntry, RetryMigration, Stance, StartMigration, StorageVersionHash,
};

use super::suite::{self, Case};
use super::{expect_eq, text, texts};
use crate::cluster::{Cluster, Server, Work, accepted, claim, complete, fail, progress, refused};
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
    accepted(cluster.send(Command::ObserveStorage(ObserveStorage {
        if_revision: None,
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
            let nothing = ObserveStorage {
                if_revision: None,
                resource: resource(PODS),
                kind: None,
                hashes: BTreeSet::new(),
            };
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

/// The conditions that Kubernetes would give the migration: type and status, and the reason where it decides it itself.
fn conditions(migration: &Migration) -> Value {
    assert_eq!(
        migration.claim.is_some(),
        migration.phase == MigrationPhase::Running,
        "who works at it has claimed it"
    );
    let is = |phase| {
        if migration.phase == phase {
            "True"
        } else {
            "False"
        }
    };
    let reason = match migration.phase {
        MigrationPhase::Running => "MigrationRunning",
        MigrationPhase::Pending => "MigrationPending",
        MigrationPhase::Succeeded | MigrationPhase::Failed | MigrationPhase::Aborted => {
            "MigrationCompleted"
        }
    };
    json!([
        ["Running", is(MigrationPhase::Running), reason],
        ["Succeeded", is(MigrationPhase::Succeeded)],
        ["Failed", is(MigrationPhase::Failed)]
    ])
}

/// Whether every given part of every expected condition is among the found ones.
fn expect_among(found: &Value, expected: &Value) -> Result<(), String> {
    let found: Vec<Vec<&str>> = found.as_array().into_iter().flatten().map(texts).collect();
    for one in expected.as_array().ok_or("no conditions")? {
        let is_met = found.iter().any(|found| found.starts_with(&texts(one)));
        expect_eq(&format!("{one} among {found:?}"), &is_met, &true)?;
    }
    Ok(())
}

#[test]
fn svm_runner() {
    suite::run("svm_runner.json", 7, &[], |section, case| {
        let expect = &case["expect"];
        match text(case, "name") {
            "CRD of a running migration" | "CRD exists" => {
                let encoding = text(&case["crd"], "storage");
                let (mut cluster, server) = (Cluster::formed(), "a");
                let server = cluster.joins(server);
                report(&mut cluster, &server, says(resource(PODS), encoding));
                let work = cluster.claims(PODS, "one");
                let migration = cluster.migration(&work.id);
                expect_eq("target", &migration.target.to_string(), &encoding)?;
                let found = conditions(&migration);
                match section {
                    "cases" => expect_eq("svm", &found[0], &expect["svm"]),
                    _ => expect_eq("condition", &found[0], expect),
                }
            }
            "already running" => {
                let (mut cluster, id) = in_phase("Running");
                let before = cluster.revision();
                refused(cluster.send(claim(&id, "two")), ErrorKind::Conflict);
                let wrote = cluster.revision() != before;
                let done = if wrote { "a write" } else { "no-op" };
                expect_eq("done", &Some(done), &expect.as_str())
            }
            "CRD of a succeeded migration" | "succeeded, generation unchanged" => {
                let mut cluster = Cluster::formed();
                let server = cluster.joins("a");
                report(&mut cluster, &server, says(resource(PODS), "v1"));
                let encoding = text(&case["crd"], "storage");
                report(&mut cluster, &server, says(resource(PODS), encoding));
                let id = cluster.open(PODS).id;
                cluster.migrates(PODS);
                match section {
                    "cases" => {
                        let stored = json!(cluster.persisted(PODS));
                        expect_eq("stored", &stored, &expect["storedVersions"])
                    }
                    _ => expect_eq("condition", &conditions(&cluster.migration(&id))[1], expect),
                }
            }
            "cleanup of a terminal SVM" => {
                let (cluster, id) = in_phase("Succeeded");
                let found = conditions(&cluster.migration(&id));
                expect_among(&found, &expect["svmConditions"])
            }
            "promote older first" => {
                let promoted = promoted(&case["svms"])?;
                expect_eq("promoted", &json!(promoted), &json!([expect["promoted"]]))
            }
            name => Err(format!("an unknown case: {name}")),
        }
    });
}

/// Those of the migrations with these names and ages that can be claimed at once.
fn promoted(svms: &Value) -> Result<Vec<&str>, String> {
    let mut by_age = Vec::new();
    for svm in svms.as_array().ok_or("no migrations")? {
        let [name, age] = texts(svm)[..] else {
            return Err(format!("no name and age: {svm}"));
        };
        let hours = age.trim_end_matches('h').parse::<i64>();
        by_age.push((hours.map_err(|error| error.to_string())?, name));
    }
    let listed: Vec<&str> = by_age.iter().map(|(_, name)| *name).collect();
    by_age.sort_unstable();
    let (mut cluster, first) = in_phase("Pending");
    let mut ids = vec![first];
    while ids.len() < by_age.len() {
        ids.push(start(&mut cluster, PODS, MigrationReason::Manual));
    }
    let id_of = |name: &str| {
        let place = by_age.iter().position(|(_, known)| *known == name)?;
        ids.get(place)
    };
    let is_had =
        |name: &&str| id_of(name).is_some_and(|id| cluster.send(claim(id, "one")).result.is_ok());
    Ok(listed.into_iter().filter(is_had).collect())
}

#[test]
fn svm_validate_status_update() {
    suite::run("svm_validate_status_update.json", 6, &[], |_, case| {
        let before = match texts_of(&case["old"]["conditions"]).first() {
            Some(["Running", _]) => "Running",
            Some(["Failed", _]) => "Failed",
            // The derived cases have none: there, commands on an ended migration are refused.
            _ if text(case, "name").ends_with("failed") => "Failed",
            _ => "Succeeded",
        };
        let (mut cluster, id) = in_phase(before);
        let old = conditions(&cluster.migration(&id));
        if !case["old"].is_null() {
            expect_among(&old, &case["old"]["conditions"])?;
        }
        let new = match &case["new"] {
            Value::Object(status) => &status["conditions"],
            conditions => conditions,
        };
        if expect_among(&old, new).is_ok() {
            return expect_eq("stays", &Value::Null, &case["errorContains"]);
        }
        let came_about = all_said_of(&mut cluster, &id, before)
            .into_iter()
            .any(|after| expect_among(&after, new).is_ok());
        // A change that is refused leaves the migration as it was, and Kubernetes has these words for that.
        let refused = (!came_about).then(|| in_words(before, new));
        expect_eq("error", &json!(refused), &case["errorContains"])
    });
}

fn texts_of(conditions: &Value) -> Vec<[&str; 2]> {
    let conditions = conditions.as_array().into_iter().flatten();
    let pairs = conditions.filter_map(|one| texts(one).try_into().ok());
    pairs.collect()
}

/// Sends everything that a worker or an operator can send for a migration in this phase; returns its states after each.
fn all_said_of(cluster: &mut Cluster, id: &MigrationId, phase: &str) -> Vec<Value> {
    let token = cluster
        .migration(id)
        .claim
        .map_or_else(|| ClaimToken::new(cluster.revision()), |claim| claim.token);
    let work = Work {
        token,
        progress: MigrationProgress::default(),
        id: id.clone(),
    };
    let retry = Command::RetryMigration(RetryMigration { id: id.clone() });
    let said = match phase {
        "Running" => vec![fail(&work, FailureClass::Forbidden)],
        _ => vec![
            progress(&work, 1),
            fail(&work, FailureClass::Transient),
            complete(&work),
            claim(id, "one"),
            retry,
        ],
    };
    let mut after = Vec::new();
    for command in said {
        cluster.send(command);
        after.push(conditions(&cluster.migration(id)));
    }
    after
}

/// The words of Kubernetes for a condition that cannot be written.
fn in_words(phase: &str, new: &Value) -> String {
    let name = if phase == "Succeeded" {
        "success"
    } else {
        "failed"
    };
    if texts_of(new).contains(&["Running", "True"]) {
        return format!("Running condition cannot be true when {name} condition is true");
    }
    let title = if phase == "Succeeded" {
        "Success"
    } else {
        "Failed"
    };
    format!("{title} condition cannot be set to false once it is true")
}
