//! Topics by their texts, for languages without the rules of their names.

use serde_json::{Value, json};
use synod_bound::{topic, topic_of};

#[test]
fn a_topic_is_told_by_its_text_and_by_its_resource() {
    let told = |kind: &str, name: &str, group: &str, resource: &str| {
        let resource = json!({"group": group, "resource": resource});
        json!({"kind": kind, "name": name, "resource": resource})
    };
    for (text, expected) in [
        (
            "keys/secrets",
            told("keys", "secrets", "keys.synod", "secrets"),
        ),
        (
            "keys/deployments.apps",
            told("keys", "deployments.apps", "apps.keys.synod", "deployments"),
        ),
        (
            "features/async-locks",
            told("features", "async-locks", "features.synod", "async-locks"),
        ),
        (
            "encoding/deployments.apps",
            told("encoding", "deployments.apps", "apps", "deployments"),
        ),
    ] {
        let document: Value = serde_json::from_str(&topic(text).unwrap()).unwrap();
        assert_eq!(document, expected);
        let resource = document["resource"].to_string();
        let again: Value = serde_json::from_str(&topic_of(&resource).unwrap()).unwrap();
        assert_eq!(again, expected);
    }
}

#[test]
fn what_is_no_topic_is_refused_with_the_rule() {
    for text in [
        "secrets",
        "key/secrets",
        "keys/Se crets",
        "encoding/secrets.keys.synod",
    ] {
        let refused = topic(text).unwrap_err();
        assert_eq!(refused.kind, "INVALID_ARGUMENT", "{text}");
        assert_eq!(refused.violations.len(), 1, "{text}");
    }
    let refused = topic_of("{}").unwrap_err();
    assert_eq!(refused.kind, "INVALID_ARGUMENT");
}
