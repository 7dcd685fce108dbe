use serde_json::{Value, json};
use synod_model::Violations;

use super::{Method, Nature, read, write};

fn faults(method: &str, document: &Value) -> Vec<String> {
    let method = Method::find(method).unwrap();
    let violations: Violations = read(&method.request(), document).unwrap_err();
    let refusal = violations.into_result().unwrap_err();
    refusal
        .violations
        .iter()
        .map(|violation| violation.field.clone())
        .collect()
}

fn again(method: &str, document: &Value) -> Value {
    let method = Method::find(method).unwrap();
    write(&read(&method.request(), document).unwrap())
}

fn nature(method: &str, document: &Value) -> Nature {
    let method = Method::find(method).unwrap();
    method.nature(&read(&method.request(), document).unwrap())
}

#[test]
fn every_fault_of_a_document_is_named_by_its_path() {
    let document = json!({
        "key": {"name": 7, "colour": "red"},
        "attributes": {"labels": {"a": "b", "c": 1}, "finalizers": ["x", null]},
        "content": {"data": "%%%", "encodingVersion": "v1"},
        "dryRun": "yes",
        "ttlMs": "-1",
        "no_field": 1,
    });
    let found = faults("synod.v1.Objects/Create", &document);
    let mut expected = vec![
        "key.name",
        "key.colour",
        "attributes.labels[\"c\"]",
        "attributes.finalizers[1]",
        "content.data",
        "dryRun",
        "ttlMs",
        "no_field",
    ];
    let mut found: Vec<&str> = found.iter().map(String::as_str).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn numbers_bytes_and_enums_are_read_in_every_form_that_protobuf_allows() {
    let written = again(
        "synod.v1.Objects/Delete",
        &json!({
            "preconditions": {"resource_version": 18_446_744_073_709_551_615_u64},
            "propagation": 1,
            "dryRun": null,
        }),
    );
    let preconditions = &written["preconditions"];
    assert_eq!(preconditions["resourceVersion"], "18446744073709551615");
    assert!(
        written["propagation"]
            .as_str()
            .unwrap()
            .starts_with("PROPAGATION_")
    );
    assert_eq!(written["dryRun"], false);
    assert!(
        written.get("key").is_none(),
        "what is not set is not written"
    );

    for data in ["+/8=", "+/8", "-_8=", "-_8"] {
        let content = json!({"content": {"data": data}});
        let written = again("synod.v1.Objects/Create", &content);
        assert_eq!(written["content"]["data"], "+/8=");
    }
    for number in [json!(5), json!("5"), json!(5.0)] {
        let read = json!({"read": {"atRevision": number}});
        assert_eq!(
            again("synod.v1.Objects/Get", &read)["read"]["atRevision"],
            "5"
        );
    }
}

#[test]
fn one_of_a_choice_is_set() {
    let two = json!({"operations": [{"create": {}, "delete": {}}]});
    let found = faults("synod.v1.Objects/Transact", &two);
    assert_eq!(found, ["operations[0].delete"]);
    let twice = json!({"dryRun": true, "dry_run": true});
    assert_eq!(faults("synod.v1.Objects/Create", &twice), ["dry_run"]);
}

#[test]
fn a_request_is_sent_by_what_it_does() {
    let none = json!({});
    assert_eq!(nature("synod.v1.Objects/Get", &none), Nature::Read);
    assert_eq!(nature("synod.v1.Sessions/Open", &none), Nature::Read);
    assert_eq!(nature("synod.v1.Objects/Create", &none), Nature::Change);
    let dry = json!({"dryRun": true});
    assert_eq!(nature("synod.v1.Objects/Create", &dry), Nature::Read);
    let keyed = json!({"requestId": {"session": "1", "sequence": "1", "lowestUnanswered": "1"}});
    assert_eq!(nature("synod.v1.Objects/Create", &keyed), Nature::Keyed);
    assert_eq!(nature("synod.v1.Membership/Join", &none), Nature::Joining);
    for fenced in ["Membership/Ready", "Membership/Leave"] {
        assert_eq!(nature(&format!("synod.v1.{fenced}"), &none), Nature::Fenced);
    }
    for fenced in ["StorageVersions/Report", "StorageVersions/Adopt"] {
        assert_eq!(nature(&format!("synod.v1.{fenced}"), &none), Nature::Fenced);
    }
    assert_eq!(
        nature("synod.v1.StorageVersions/Forget", &none),
        Nature::Change
    );
}

#[test]
fn a_method_that_is_none_or_a_stream_is_refused() {
    for name in [
        "synod.v1.Objects/Make",
        "Objects/Create",
        "",
        "synod.v1.Watch/Watch",
    ] {
        let error = Method::find(name).unwrap_err();
        assert_eq!(
            error.kind(),
            synod_model::ErrorKind::InvalidArgument,
            "{name}"
        );
    }
    assert!(Method::find("/synod.v1.Objects/Create").is_ok());
}
