//! Topics by their texts, for languages without the rules of their names.

use serde_json::{Value, json};
use synod_bound::{topic, topic_of};

/// The texts that the clients of all languages read alike.
fn texts() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/conformance/topics.json"
    );
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_topic_is_told_by_its_text_and_by_its_resource() {
    for row in texts()["topics"].as_array().unwrap() {
        let resource = json!({"group": row["group"], "resource": row["resource"]});
        let expected = json!({"kind": row["kind"], "name": row["name"], "resource": resource});
        let told = topic(row["text"].as_str().unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), expected);
        let again = topic_of(&resource.to_string()).unwrap();
        assert_eq!(again, told);
    }
}

#[test]
fn what_is_no_topic_is_refused_with_the_rule() {
    for text in texts()["refused"].as_array().unwrap() {
        let refused = topic(text.as_str().unwrap()).unwrap_err();
        assert_eq!(refused.kind, "INVALID_ARGUMENT", "{text}");
        assert_eq!(refused.violations.len(), 1, "{text}");
    }
    let refused = topic_of("{}").unwrap_err();
    assert_eq!(refused.kind, "INVALID_ARGUMENT");
}
