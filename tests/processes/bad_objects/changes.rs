//! Patches and transactions that cannot be executed change nothing.

use synod_client::ErrorKind;
use synod_model::limits::{JSON_DEPTH_MAX, PATCH_OPERATIONS_MAX};
use synod_proto::v1;

use super::{check_invalid, create, key, nested, start};
use crate::agreement::agree;
use crate::cluster::IDS;
use crate::requests::{Wire, kind, refusal, timely};

fn patch(format: v1::PatchFormat, document: &str) -> v1::ObjectsPatchRequest {
    v1::ObjectsPatchRequest {
        key: Some(key("mine", "thing")),
        patch: Some(v1::ContentPatch {
            encoding_version: "example.com/v1".to_owned(),
            format: format.into(),
            document: document.as_bytes().to_vec().into(),
        }),
        ..v1::ObjectsPatchRequest::default()
    }
}

// Guarantee: O-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_patch_that_does_not_apply_is_refused_and_changes_nothing() {
    use v1::PatchFormat::{Json, Merge};
    let cluster = start().await;
    let before = agree(&cluster).await;
    let operations = |count: usize| {
        let test = r#"{"op":"test","path":"/list/0","value":1}"#;
        format!("[{}]", vec![test; count].join(","))
    };
    let invalid = [
        ("no JSON", patch(Merge, "{")),
        ("no object", patch(Merge, "[]")),
        ("a key twice", patch(Merge, r#"{"a":1,"a":2}"#)),
        (
            "too deep",
            patch(Merge, &format!(r#"{{"a":{}}}"#, nested(JSON_DEPTH_MAX))),
        ),
        ("no list", patch(Json, "{}")),
        (
            "no operation",
            patch(Json, r#"[{"op":"explode","path":"/list"}]"#),
        ),
        (
            "no pointer",
            patch(Json, r#"[{"op":"remove","path":"list"}]"#),
        ),
        (
            "nothing there",
            patch(Json, r#"[{"op":"remove","path":"/list/7"}]"#),
        ),
        (
            "the second of two",
            patch(
                Json,
                r#"[{"op":"add","path":"/a","value":1},{"op":"replace","path":"/b","value":1}]"#,
            ),
        ),
        (
            "too many",
            patch(Json, &operations(PATCH_OPERATIONS_MAX + 1)),
        ),
    ];
    let failed = patch(Json, r#"[{"op":"test","path":"/list/0","value":2}]"#);
    let mut elsewhere = patch(Merge, "{}");
    let changed = elsewhere.patch.as_mut().expect("it has one");
    changed.encoding_version = "example.com/v2".to_owned();
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        for (what, request) in &invalid {
            let patched = wire.objects().patch(timely(request.clone())).await;
            check_invalid(what, &refusal(patched), "patch");
        }
        for request in [&failed, &elsewhere] {
            let refused = refusal(wire.objects().patch(timely(request.clone())).await);
            assert_eq!(refused.kind, ErrorKind::Conflict, "{refused:?}");
        }
        // A patch with the maximum of test operations changes nothing either, but is legal.
        let most = patch(Json, &operations(PATCH_OPERATIONS_MAX));
        let same = wire.objects().patch(timely(most)).await;
        assert!(!same.expect("it applies").into_inner().changed);
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}

fn creating(name: &str) -> v1::ObjectsOperation {
    let request = create("mine", name, "{}");
    v1::ObjectsOperation {
        operation: Some(v1::objects_operation::Operation::Create(
            v1::CreateOperation {
                key: request.key,
                content: request.content,
                ..v1::CreateOperation::default()
            },
        )),
    }
}

fn deleting(name: &str) -> v1::ObjectsOperation {
    v1::ObjectsOperation {
        operation: Some(v1::objects_operation::Operation::Delete(
            v1::DeleteOperation {
                key: Some(key("mine", name)),
                ..v1::DeleteOperation::default()
            },
        )),
    }
}

// Guarantee: O-12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_breaks_a_rule_does_nothing_of_what_it_was_to_do() {
    let cluster = start().await;
    let before = agree(&cluster).await;
    let transact = |operations| v1::ObjectsTransactRequest {
        operations,
        ..v1::ObjectsTransactRequest::default()
    };
    for id in IDS {
        let objects = || Wire::to(&cluster.endpoint(id)).objects();
        let twice = [
            vec![creating("new"), creating("new")],
            vec![deleting("thing"), creating("thing")],
        ];
        for operations in twice {
            let refused = refusal(objects().transact(timely(transact(operations))).await);
            check_invalid("a key twice", &refused, "operations[1].key");
        }
        let empty = vec![creating("new"), v1::ObjectsOperation::default()];
        let refused = refusal(objects().transact(timely(transact(empty))).await);
        check_invalid("an empty operation", &refused, "operations[1]");
        // The operations before the refused one are not executed either.
        for (operations, expected) in [
            (
                vec![creating("new"), creating("thing")],
                ErrorKind::AlreadyExists,
            ),
            (
                vec![deleting("thing"), deleting("absent")],
                ErrorKind::NotFound,
            ),
        ] {
            let refused = objects().transact(timely(transact(operations))).await;
            assert_eq!(kind(refused), expected, "replica {id}");
        }
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}
