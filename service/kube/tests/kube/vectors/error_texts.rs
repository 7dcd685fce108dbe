//! The errors of Kubernetes, asked of the Kubernetes API: code, reason, causes and message. The Rust client is asked for the
//! messages of gRPC, which has no codes of HTTP and no causes.

use serde_json::{Value, json};

use super::{suite, text, texts};
use crate::api::{Answer, Api, WIDGETS, widget};
use crate::replicas::Replicas;

const FUTURE: &str = "999999999";
const OTHER_UID: &str = "00000000-0000-8000-8000-000000000000";

#[tokio::test]
async fn every_error_is_answered_as_kubernetes_answers_it() {
    let replicas = Replicas::with_widgets().await;
    // Nothing else moves the revision from then on.
    replicas.raised().await;
    let api = Api::of(&replicas);
    let created = api.post(WIDGETS, &widget("a", 1)).await;
    let document = suite::document("api_error_texts.json");
    let mut checked = 0;
    for case in document["cases"].as_array().unwrap() {
        for (answer, message) in answers(&api, case, &created.body["metadata"]).await {
            assert_eq!(
                (&json!(answer.code), &answer.body["reason"]),
                (&case["code"], &case["reason"]),
                "{answer:?}"
            );
            let found = text(&answer.body, "message");
            assert!(found.contains(&message), "{found} and not {message}");
            let causes = answer.body["details"]["causes"].as_array();
            for expected in texts(&case["causes"]) {
                let mut causes = causes.into_iter().flatten();
                assert!(
                    causes.any(|cause| cause["reason"] == expected),
                    "{answer:?}"
                );
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}

/// The answers to the requests that a case is about, each with the message that the case expects.
async fn answers(api: &Api, case: &Value, metadata: &Value) -> Vec<(Answer, String)> {
    let path = format!("{WIDGETS}/a");
    let [uid, revision] = ["uid", "resourceVersion"].map(|field| text(metadata, field));
    match text(case, "reason") {
        "AlreadyExists" => {
            let message = words(
                text(case, "message"),
                &[("<resource.group>", "widgets.example.io"), ("<name>", "a")],
            );
            vec![(api.post(WIDGETS, &widget("a", 1)).await, message)]
        }
        "Conflict" => {
            let messages: Vec<&str> = text(case, "message").split(" | ").collect();
            let mut found = Vec::new();
            for (field, wrong, right, message) in [
                ("uid", OTHER_UID, uid, messages[0]),
                ("resourceVersion", "1", revision, messages[1]),
            ] {
                let options = json!({ "preconditions": { field: wrong } });
                let message = words(message, &[("<a>", wrong), ("<b>", right)]);
                found.push((api.delete(&path, &options).await, message));
            }
            found
        }
        "Timeout" => {
            let answer = api
                .get(&format!("{WIDGETS}?resourceVersion={FUTURE}"))
                .await;
            let message = words(
                text(case, "message"),
                &[("<rv>", FUTURE), ("<cur>", revision)],
            );
            vec![(answer, message)]
        }
        "RequestEntityTooLarge" => {
            let bytes = usize::try_from(case["limitBytes"].as_u64().unwrap()).unwrap();
            let mut large = widget("b", 1);
            large["spec"]["text"] = json!("x".repeat(bytes));
            vec![(api.post(WIDGETS, &large).await, String::new())]
        }
        // A gate of an API server answers so, and the Kubernetes API has none.
        "ServiceUnavailable" => Vec::new(),
        reason => panic!("an unknown reason: {reason}"),
    }
}

/// A message with these values in their places.
fn words(message: &str, values: &[(&str, &str)]) -> String {
    let replace = |message: String, (place, value): &(&str, &str)| message.replace(place, value);
    values.iter().fold(message.to_owned(), replace)
}
