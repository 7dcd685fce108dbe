//! The cases of Kubernetes on what it shows of a StorageVersionMigration, and what it lets a client write into one.

use serde_json::{Value, json};
use synod_proto::v1;

use super::stage::{Stage, are_among, condition, error, path};
use super::{expect_eq, expect_error, run, text, texts};
use crate::own::MIGRATIONS;

#[test]
fn a_migration_is_shown_as_kubernetes_shows_it() {
    run("svm_runner.json", 7, async |section, case| {
        let expect = &case["expect"];
        match text(case, "name") {
            "CRD exists" | "CRD of a running migration" => {
                let stage = Stage::encoding("", "pods", text(&case["crd"], "storage")).await;
                let name = stage.only().await;
                stage.claim(&name, "one").await.ok_or("not claimed")?;
                let shown = stage.shown(&name).await;
                match section {
                    "cases" => expect_eq("svm", &condition(&shown, "Running"), &expect["svm"]),
                    _ => is_told_of_its_definition(&shown, expect),
                }
            }
            "already running" => already_running(expect).await,
            "succeeded, generation unchanged" | "CRD of a succeeded migration" => {
                let stage = Stage::encoding("", "pods", text(&case["crd"], "storage")).await;
                let name = stage.only().await;
                let claim = stage.claim(&name, "one").await.ok_or("not claimed")?;
                assert!(stage.complete(&claim).await, "not completed");
                if section != "cases" {
                    return is_told_of_its_definition(&stage.shown(&name).await, expect);
                }
                let agreement = stage.api.get("/apis/synod.io/v1/agreements/pods").await;
                let stored = &agreement.body["status"]["persistedVersions"];
                expect_eq("stored", stored, &expect["storedVersions"])
            }
            "cleanup of a terminal SVM" => {
                let stage = Stage::encoding("", "pods", "v1").await;
                let name = stage.only().await;
                let claim = stage.claim(&name, "one").await.ok_or("not claimed")?;
                assert!(stage.complete(&claim).await, "not completed");
                let shown = stage.shown(&name).await;
                match are_among(&shown, &expect["svmConditions"]) {
                    true => Ok(()),
                    false => Err(format!("{expect} in {shown}")),
                }
            }
            "promote older first" => {
                let promoted = promoted(&case["svms"]).await?;
                expect_eq("promoted", &json!(promoted), &json!([expect["promoted"]]))
            }
            name => Err(format!("an unknown case: {name}")),
        }
    });
}

/// Whether the condition that a definition would have is shown.
fn is_told_of_its_definition(shown: &Value, expect: &Value) -> Result<(), String> {
    let kind = texts(expect).first().copied().unwrap_or_default();
    expect_eq("condition", &condition(shown, kind), expect)
}

/// Claims a migration that runs.
async fn already_running(expect: &Value) -> Result<(), String> {
    let stage = Stage::encoding("", "pods", "v1").await;
    let name = stage.only().await;
    stage.claim(&name, "one").await.ok_or("not claimed")?;
    let before = stage.shown(&name).await;
    let is_claimed = stage.claim(&name, "two").await.is_some();
    let is_changed = is_claimed || stage.shown(&name).await != before;
    let done = if is_changed { "a write" } else { "no-op" };
    expect_eq("done", &json!(done), expect)
}

/// The names of the migrations that run once workers have tried to claim all of them.
async fn promoted(svms: &Value) -> Result<Vec<String>, String> {
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
    let stage = Stage::encoding("", "pods", "v1").await;
    let first = stage.only().await;
    assert_eq!(stage.api.delete(&path(&first), &json!({})).await.code, 200);
    // Of each reason one migration can wait.
    let mut reasons = [v1::MigrationReason::Manual, v1::MigrationReason::RewriteAll].into_iter();
    for (_, name) in by_age {
        let request = v1::MigrationsStartRequest {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            }),
            reason: reasons.next().ok_or("too many migrations")?.into(),
            alias: Some(name.to_owned()),
            ..v1::MigrationsStartRequest::default()
        };
        let started = stage.workers.clone().start(request).await;
        started.map_err(|status| status.to_string())?;
    }
    for name in listed {
        let shown = stage.shown(name).await;
        stage
            .claim(text(&shown["status"], "migration"), "one")
            .await;
    }
    let list = stage.list().await.into_iter();
    let running = list.filter(|shown| are_among(shown, &json!([["Running", "True"]])));
    Ok(running
        .map(|shown| text(&shown["metadata"], "name").to_owned())
        .collect())
}

#[test]
fn a_migration_is_created_where_kubernetes_creates_it() {
    run("svm_validate_create.json", 1, async |_, case| {
        let [group, plural] = ["group", "resource"].map(|field| text(case, field));
        let stage = Stage::encoding(group, plural, &format!("{group}/v1")).await;
        let created = stage.api.post(MIGRATIONS, &stage.document("mine")).await;
        expect_eq("error", &json!(error(&created)), &case["error"])
    });
}

#[test]
fn a_migration_is_changed_where_kubernetes_changes_it() {
    run("svm_validate_update.json", 2, async |_, case| {
        let stage = Stage::encoding("", "pods", "v1").await;
        let name = stage.only().await;
        let mut document = stage.shown(&name).await;
        match text(case, "change") {
            "metadata.labels" => document["metadata"]["labels"] = json!({"a": "b"}),
            "spec.resource.resource=''" => document["spec"]["resource"]["resource"] = json!(""),
            change => return Err(format!("an unknown change: {change}")),
        }
        let answer = stage.api.put(&path(&name), &document).await;
        expect_error(error(&answer), &case["errorContains"])?;
        match error(&answer) {
            Some(_) => Ok(()),
            // A change that is accepted is shown.
            None => expect_eq(
                "labels",
                &answer.body["metadata"]["labels"],
                &document["metadata"]["labels"],
            ),
        }
    });
}

#[test]
fn a_status_is_written_where_kubernetes_writes_it() {
    run("svm_validate_status_update.json", 6, async |_, case| {
        let stage = Stage::encoding("", "pods", "v1").await;
        let name = stage.only().await;
        let before = match texts(&case["old"]["conditions"][0]).first() {
            Some(kind) => kind,
            // The derived cases have no conditions before.
            None if text(case, "name").ends_with("failed") => "Failed",
            None => "Succeeded",
        };
        let claim = stage.claim(&name, "one").await.ok_or("not claimed")?;
        match before {
            "Succeeded" => assert!(stage.complete(&claim).await, "not completed"),
            "Failed" => {
                let is_failed = stage.fail(&claim, v1::FailureClass::Forbidden).await;
                assert!(is_failed, "not failed");
            }
            _ => {}
        }
        let shown = stage.shown(&name).await;
        assert!(are_among(&shown, &json!([[before, "True"]])), "{shown}");
        let new = match &case["new"] {
            Value::Object(status) => &status["conditions"],
            conditions => conditions,
        };
        let mut document = shown.clone();
        document["status"]["conditions"] = documents_of(new);
        let status = format!("{}/status", path(&name));
        let answer = stage.api.put(&status, &document).await;
        expect_error(error(&answer), &case["errorContains"])?;
        let comes_about = comes_about(&stage, &name, &claim, new).await;
        match (error(&answer), comes_about) {
            (None, true) | (Some(_), false) => Ok(()),
            (None, false) => Err(format!("{new} is accepted and never shown")),
            (Some(_), true) => Err(format!("{new} comes about by calls of synod.v1")),
        }
    });
}

/// Conditions with all their fields.
fn documents_of(conditions: &Value) -> Value {
    let of = |one: &Value| {
        json!({
            "type": one[0],
            "status": one[1],
            "reason": "Reason",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    conditions
        .as_array()
        .into_iter()
        .flatten()
        .map(of)
        .collect()
}

/// Whether a migration ever shows these conditions while it receives all that workers and operators send.
async fn comes_about(stage: &Stage, name: &str, claim: &v1::ClaimKey, conditions: &Value) -> bool {
    let holds = async || {
        let shown = stage.shown(name).await;
        let is_met = |one: &Value| {
            let [kind, status] = texts(one)[..] else {
                return false;
            };
            // A condition that is not there does not hold.
            let found = condition(&shown, kind);
            found[1].as_str().unwrap_or("False") == status
        };
        conditions
            .as_array()
            .is_some_and(|all| all.iter().all(is_met))
    };
    if holds().await {
        return true;
    }
    stage.progress(claim).await;
    if stage.fail(claim, v1::FailureClass::Forbidden).await && holds().await {
        return true;
    }
    stage.complete(claim).await;
    stage.retry(name).await;
    if holds().await {
        return true;
    }
    stage.claim(name, "two").await;
    holds().await
}
