//! The rows that Kubernetes prints, asked of the tables that the Kubernetes API answers to `kubectl get`.

use serde_json::{Value, json};

use super::stage::{Stage, controller_revision, path};
use super::suite::{self, Case};
use super::{expect_eq, text, texts};
use crate::api::{Answer, Api};
use crate::own::MIGRATIONS;
use crate::replicas::Replicas;
use crate::taking_part::{VERSIONS, common_version, joined};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const SNAPSHOTS: &str = "/apis/apps/v1/namespaces/n/controllerrevisions";

#[test]
fn every_kind_is_printed_as_kubernetes_prints_it() {
    // These lists are the columns of the cases beside them.
    let columns = [
        "storageversions.columns",
        "controllerrevisions.columns",
        "storageversionmigrations_v1alpha1.columns",
    ];
    suite::run("printer_rows.json", 6, &columns, |section, case| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let table = match section {
                "storageversions.cases" => storage_version(case).await?,
                "controllerrevisions.cases" => snapshot(case).await,
                "storageversionmigrations_v1alpha1.cases" => migration(case).await,
                section => return Err(format!("an unknown section: {section}")),
            };
            let (kind, _) = section.split_once('.').ok_or("no kind")?;
            expect_row(&table.body, kind, &case["cells"])
        })
    });
}

/// Fails unless the table has the columns of this kind, and one row with these cells.
fn expect_row(table: &Value, kind: &str, cells: &Value) -> Result<(), String> {
    let document = suite::document("printer_rows.json");
    let headings = texts(&document[kind]["columns"]);
    // The age is the last one, and no case gives it.
    let headings = &headings[..headings.len() - 1];
    let row = &table["rows"][0]["cells"];
    let mut found = Vec::new();
    for (place, heading) in headings.iter().enumerate() {
        let column = &table["columnDefinitions"][place]["name"];
        expect_eq("column", column, &json!(heading))?;
        found.push(match &row[place] {
            Value::String(cell) => cell.clone(),
            cell => cell.to_string(),
        });
    }
    expect_eq("cells", &json!(found), cells)
}

/// The table of a StorageVersion. One without reports is shown to the client that creates it alone.
async fn storage_version(case: &Case<'_>) -> Result<Answer, String> {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let name = text(case, "name");
    let path = format!("{VERSIONS}/{name}");
    let empty = json!({"metadata": {"name": name}});
    let created = api
        .send(
            "POST",
            VERSIONS,
            &[("accept", TABLE)],
            empty.to_string().as_bytes(),
        )
        .await;
    assert_eq!(created.code, 201, "{created:?}");
    let mut document = api.post(VERSIONS, &empty).await.body;
    let mut entries: Vec<Value> = Vec::new();
    for pair in case["storageVersions"].as_array().ok_or("no entries")? {
        let [server, version] = texts(pair)[..] else {
            return Err(format!("no server and version: {pair}"));
        };
        joined(&api, server, "one").await;
        entries.push(json!({
            "apiServerID": server,
            "encodingVersion": version,
            "decodableVersions": [version],
        }));
        document["status"]["commonEncodingVersion"] = common_version(&entries);
        document["status"]["storageVersions"] = json!(entries);
        let reported = api.put(&format!("{path}/status"), &document).await;
        assert_eq!(reported.code, 200, "{reported:?}");
        document = reported.body;
    }
    let common = &document["status"]["commonEncodingVersion"];
    expect_eq("common", common, &case["common"])?;
    Ok(match entries.as_slice() {
        [] => created,
        _ => api.get_as(&path, TABLE).await,
    })
}

/// The table of a ControllerRevision, of a controller or released by it.
async fn snapshot(case: &Case<'_>) -> Answer {
    let replicas = Replicas::one().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    let controller = match texts(&case["controller"])[..] {
        [version, kind, name] => [version, kind, name],
        _ => ["apps/v1", "StatefulSet", "before"],
    };
    let path = format!("{SNAPSHOTS}/{}", text(case, "name"));
    let mut document = controller_revision(text(case, "name"), controller);
    document["revision"] = case["revision"].clone();
    let created = api.post(SNAPSHOTS, &document).await;
    assert_eq!(created.code, 201, "{created:?}");
    if case["controller"].is_null() {
        let release = json!({"metadata": {"ownerReferences": []}});
        let released = api.patch(&path, "merge", &release).await;
        assert_eq!(released.code, 200, "{released:?}");
    }
    api.get_as(&path, TABLE).await
}

/// The table of a migration that a client has named.
async fn migration(case: &Case<'_>) -> Answer {
    let [group, version, resource] =
        ["group", "version", "resource"].map(|field| text(case, field));
    let stage = Stage::encoding(group, resource, &format!("{group}/{version}")).await;
    let name = text(case, "name");
    // Of each reason one migration can wait, so the first one goes.
    let first = stage.only().await;
    assert_eq!(stage.api.delete(&path(&first), &json!({})).await.code, 200);
    let created = stage.api.post(MIGRATIONS, &stage.document(name)).await;
    assert_eq!(created.code, 201, "{created:?}");
    stage.api.get_as(&path(name), TABLE).await
}
