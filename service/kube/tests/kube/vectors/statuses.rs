//! The faults that Kubernetes finds in the status of a StorageVersion, asked of the answer to the server that writes it.

use serde_json::{Value, json};

use super::stage::error;
use super::{expect_eq, expect_error, run, text, texts};
use crate::api::{Answer, Api};
use crate::replicas::Replicas;
use crate::taking_part::{VERSIONS, common_version, joined};

const WIDGETS: &str = "mygroup.com.widgets";

/// A replica at which servers write the status of one StorageVersion.
struct Writers {
    _replicas: Replicas,
    api: Api,
}

impl Writers {
    /// A replica that the servers with these IDs have joined by their identity leases.
    async fn of(ids: &[&str]) -> Self {
        let replicas = Replicas::one().await;
        let api = Api::of(&replicas);
        for id in ids {
            joined(&api, id, "one").await;
        }
        Self {
            _replicas: replicas,
            api,
        }
    }

    /// The StorageVersion; creates it as a server does that finds none.
    async fn storage_version(&self) -> Value {
        let found = self.api.get(&format!("{VERSIONS}/{WIDGETS}")).await;
        if found.code == 200 {
            return found.body;
        }
        let empty = json!({"metadata": {"name": WIDGETS}, "status": {"storageVersions": []}});
        let created = self.api.post(VERSIONS, &empty).await;
        assert_eq!(created.code, 201, "{created:?}");
        created.body
    }

    /// Writes these fields of the status, and keeps all others.
    async fn write(&self, fields: &[(&str, Value)]) -> Answer {
        let mut document = self.storage_version().await;
        for (field, value) in fields {
            document["status"][field] = value.clone();
        }
        let path = format!("{VERSIONS}/{WIDGETS}/status");
        self.api.put(&path, &document).await
    }

    /// Writes entries and the version that is common to them.
    async fn report(&self, entries: &[Value]) -> Answer {
        let common = common_version(entries);
        self.report_as(entries, common).await
    }

    async fn report_as(&self, entries: &[Value], common: Value) -> Answer {
        let entries = json!(entries);
        self.write(&[
            ("storageVersions", entries),
            ("commonEncodingVersion", common),
        ])
        .await
    }
}

/// The entry of a pair of a server and the version that it encodes.
fn entry(pair: &Value) -> Value {
    json!({
        "apiServerID": pair[0],
        "encodingVersion": pair[1],
        "decodableVersions": ["v1", "v1alpha1"],
    })
}

#[test]
fn a_wrong_common_version_is_refused_as_kubernetes_refuses_it() {
    run("validate_common_version.json", 6, async |_, case| {
        let pairs = case["storageVersions"].as_array().ok_or("no entries")?;
        let ids: Vec<&str> = pairs.iter().filter_map(|pair| pair[0].as_str()).collect();
        let entries: Vec<Value> = pairs.iter().map(entry).collect();
        let writers = Writers::of(&ids).await;
        // Each server writes its own entry, and the last one the common version of the case.
        for reported in 1..entries.len() {
            let answer = writers.report(&entries[..reported]).await;
            assert_eq!(answer.code, 200, "{answer:?}");
        }
        let common = &case["commonEncodingVersion"];
        let answer = writers.report_as(&entries, common.clone()).await;
        expect_error(error(&answer), &case["errorContains"])?;
        match error(&answer) {
            Some(_) => Ok(()),
            // A common version that is accepted is shown.
            None => expect_eq(
                "common",
                &answer.body["status"]["commonEncodingVersion"],
                common,
            ),
        }
    });
}

#[test]
fn wrong_conditions_are_refused_as_kubernetes_refuses_them() {
    let file = "validate_storage_version_conditions.json";
    run(file, 6, async |_, case| {
        let writers = Writers::of(&["1"]).await;
        let answer = writers.report(&[entry(&json!(["1", "v1"]))]).await;
        assert_eq!(answer.code, 200, "{answer:?}");
        let conditions = case["conditions"].clone();
        let answer = writers.write(&[("conditions", conditions)]).await;
        expect_error(error(&answer), &case["errorContains"])
    });
}

#[test]
fn a_wrong_entry_is_refused_as_kubernetes_refuses_it() {
    let file = "validate_server_storage_version.json";
    run(file, 7, async |_, case| {
        if let Some(pairs) = case["status"].as_array() {
            let writers = Writers::of(&["1"]).await;
            let entries: Vec<Value> = pairs.iter().map(entry).collect();
            let answer = writers.report(&entries).await;
            return expect_error(error(&answer), &case["errorContains"]);
        }
        let writers = Writers::of(&["fea"]).await;
        let versions = |field: &str| json!(texts(&case[field]));
        let own = json!({
            "apiServerID": text(case, "apiServerID"),
            "encodingVersion": text(case, "encodingVersion"),
            "decodableVersions": versions("decodableVersions"),
            "servedVersions": versions("servedVersions"),
        });
        let answer = writers.report(std::slice::from_ref(&own)).await;
        expect_error(error(&answer), &case["errorContains"])?;
        match error(&answer) {
            Some(_) => Ok(()),
            // An entry that is accepted is shown.
            None => expect_eq(
                "encoding",
                &answer.body["status"]["storageVersions"][0]["encodingVersion"],
                &own["encodingVersion"],
            ),
        }
    });
}
