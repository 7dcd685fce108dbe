//! The ControllerRevisions that Kubernetes refuses, asked of the answer to the client that creates them.

use serde_json::{Value, json};

use super::stage::{controller_revision, error};
use super::{expect_eq, run, suite, text};
use crate::api::Api;
use crate::replicas::Replicas;

const FILE: &str = "validate_controller_revision_create.json";

#[test]
fn a_controller_revision_is_created_where_kubernetes_creates_it() {
    let document = suite::document(FILE);
    let messages = &document["messages"];
    run(FILE, 10, async |_, case| {
        let replicas = Replicas::one().await;
        replicas.raised().await;
        let data = case["dataRaw"].as_str().unwrap_or("null");
        let data = data.replace("{...}", "{\"a\":1}");
        let data: Value = serde_json::from_str(&data).map_err(|fault| fault.to_string())?;
        let message = match &data {
            // JSON has no other way to leave out data.
            Value::Null => Some(text(messages, "missing")),
            Value::Object(_) => None,
            _ => Some(text(messages, "notObject")),
        };
        let mut document =
            controller_revision(text(case, "name"), ["apps/v1", "StatefulSet", "web"]);
        document["data"] = data;
        document["revision"] = case["revision"].clone();
        let namespace = text(case, "namespace");
        let path = format!("/apis/apps/v1/namespaces/{namespace}/controllerrevisions");
        let answer = Api::of(&replicas).post(&path, &document).await;
        expect_eq("valid", &json!(answer.code == 201), &case["valid"])?;
        match (error(&answer), message) {
            (Some(found), Some(message)) if !found.contains(message) => {
                Err(format!("{found:?} and not {message:?}"))
            }
            _ => Ok(()),
        }
    });
}
