use super::*;
use crate::{
    Content, GroupResource, MediaType, Metadata, Namespace, ObjectKey, Revision, WallTime,
};

const UID: [u8; 16] = [7; 16];

fn object() -> Object {
    let namespace = Namespace::parse("a").unwrap();
    let resource = GroupResource::new("example.io", "widgets").unwrap();
    let owner = OwnerReference {
        api_version: ApiVersion::parse("apps/v1").unwrap(),
        kind: Kind::parse("Deployment").unwrap(),
        name: ObjectName::parse("web").unwrap(),
        uid: Uid::from_bytes([8; 16]),
        controller: true,
        block_owner_deletion: false,
    };
    Object {
        key: ObjectKey::new(
            resource,
            Some(&namespace),
            &ObjectName::parse("one").unwrap(),
        ),
        metadata: Metadata {
            uid: Uid::from_bytes(UID),
            resource_version: Revision::new(12),
            create_revision: Revision::new(3),
            generation: 2,
            created: WallTime::from_millis(5),
        },
        attributes: Attributes {
            labels: Labels::parse([("color", "red"), ("size", "xl")]).unwrap(),
            annotations: Annotations::parse([("note", "one")]).unwrap(),
            owners: OwnerReferences::new(vec![owner]).unwrap(),
            finalizers: Finalizers::parse(["x.io/a", "x.io/b"]).unwrap(),
        },
        deletion: None,
        content: Content {
            encoding: ApiVersion::parse("example.io/v1").unwrap(),
            media_type: MediaType::parse("application/cbor").unwrap(),
            data: Bytes::from_static(b"\xa0"),
        },
        content_revision: Revision::new(3),
    }
}

fn patched(format: PatchFormat, document: &str) -> Result<Attributes, Refusal> {
    let document = Bytes::copy_from_slice(document.as_bytes());
    MetadataPatch { format, document }.applied_to(&object())
}

fn merge(document: &str) -> Attributes {
    patched(PatchFormat::Merge, document).unwrap()
}

fn faults(format: PatchFormat, document: &str) -> Vec<String> {
    let refused = patched(format, document).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InvalidArgument, "{refused}");
    let violations = refused.violations.iter();
    violations.map(ToString::to_string).collect()
}

#[test]
fn what_a_patch_does_not_name_stays() {
    let before = object().attributes;
    assert_eq!(merge("{}"), before);
    let merged = merge(r#"{"labels":{"color":"blue","size":null,"new":""}}"#);
    assert_eq!(
        merged.labels,
        Labels::parse([("color", "blue"), ("new", "")]).unwrap()
    );
    assert_eq!(
        Attributes {
            labels: before.labels.clone(),
            ..merged
        },
        before
    );
    let bare = merge(r#"{"labels":null,"annotations":null,"ownerReferences":[],"finalizers":[]}"#);
    assert_eq!(bare, Attributes::default());
}

#[test]
fn a_list_of_operations_works_on_the_document_that_kubernetes_shows() {
    let operations = r#"[
        {"op":"test","path":"/name","value":"one"},
        {"op":"test","path":"/namespace","value":"a"},
        {"op":"test","path":"/resourceVersion","value":"12"},
        {"op":"test","path":"/generation","value":2},
        {"op":"remove","path":"/finalizers/0"},
        {"op":"add","path":"/annotations/x.io~1y","value":"two"},
        {"op":"replace","path":"/ownerReferences/0/blockOwnerDeletion","value":true},
        {"op":"copy","from":"/labels/color","path":"/labels/colour"}
    ]"#;
    let patched = patched(PatchFormat::Json, operations).unwrap();
    assert_eq!(patched.finalizers, Finalizers::parse(["x.io/b"]).unwrap());
    assert_eq!(patched.annotations.get("x.io/y"), Some("two"));
    assert_eq!(patched.labels.get("colour"), Some("red"));
    let owner = patched.owners.iter().next().unwrap();
    assert!(owner.block_owner_deletion);
    let refused = self::patched(
        PatchFormat::Json,
        r#"[{"op":"test","path":"/labels/color","value":"blue"}]"#,
    );
    let refused = refused.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "CONFLICT: metadataPatch.document[0]: the test operation failed: the value at `path` differs"
    );
}

#[test]
fn what_identifies_an_object_is_immutable_and_may_be_said_again() {
    let uid = Uid::from_bytes(UID);
    let same = format!(r#"{{"name":"one","namespace":"a","uid":"{uid}","resourceVersion":"12"}}"#);
    assert_eq!(merge(&same), object().attributes);
    let other = r#"{"name":"two","namespace":"b","uid":"3f1b"}"#;
    assert_eq!(
        faults(PatchFormat::Merge, other),
        [
            r#"metadata.name: Invalid value: "two": field is immutable"#,
            r#"metadata.namespace: Invalid value: "b": field is immutable"#,
            r#"metadata.uid: Invalid value: "3f1b": field is immutable"#,
        ]
    );
    // A patch that leaves such a member out, or removes it, changes nothing.
    assert_eq!(merge(r#"{"name":null,"uid":null}"#), object().attributes);
    let late = patched(
        PatchFormat::Merge,
        r#"{"resourceVersion":"11","labels":{"a":"b"}}"#,
    );
    assert_eq!(late.unwrap_err().kind, ErrorKind::Conflict);
}

#[test]
fn what_the_store_keeps_by_itself_is_ignored_and_a_misspelt_member_is_not() {
    let own = r#"{"creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":null,"generation":99,
        "managedFields":[{}],"selfLink":"/x","generateName":"one-","deletionGracePeriodSeconds":30}"#;
    assert_eq!(merge(own), object().attributes);
    let faults = faults(PatchFormat::Merge, r#"{"lables":{"a":"b"}}"#);
    assert_eq!(
        faults,
        [
            r#"metadata: Invalid value: "lables": must be one of labels, annotations, ownerReferences and finalizers"#
        ]
    );
}

#[test]
fn every_fault_of_what_comes_out_is_named_at_once() {
    let document = r#"{
        "labels":{"-":"x","ok":1},
        "annotations":[],
        "finalizers":["x.io/a",1],
        "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"NO","controller":"yes","x":1}]
    }"#;
    let found = faults(PatchFormat::Merge, document);
    assert_eq!(
        found,
        [
            r#"metadata.annotations: Invalid value: "[]": must be an object of strings"#,
            r#"metadata.finalizers[1]: Invalid value: "1": must be a string"#,
            r#"metadata.labels[ok]: Invalid value: "1": must be a string"#,
            &found[3],
            "metadata.ownerReferences[0].uid: Required value: must be a string",
            r#"metadata.ownerReferences[0].controller: Invalid value: "yes": must be true or false"#,
            r#"metadata.ownerReferences[0]: Invalid value: "x": is no member of an owner reference"#,
        ]
    );
    assert!(found[3].starts_with("metadata.ownerReferences[0].name: "));
    assert_eq!(
        faults(PatchFormat::Merge, "[]")[0].split(':').next(),
        Some("metadataPatch.document")
    );
}

#[test]
fn the_bounds_of_metadata_hold_for_what_a_patch_makes_of_it() {
    let long = "x".repeat(crate::limits::ANNOTATIONS_BYTES_MAX);
    let found = faults(
        PatchFormat::Merge,
        &format!(r#"{{"annotations":{{"a":"{long}"}}}}"#),
    );
    assert_eq!(
        found,
        ["metadata.annotations: Too long: may not be more than 262144 bytes"]
    );
    let many: Vec<String> = (0..65).map(|i| format!(r#""l{i}":"x""#)).collect();
    let found = faults(
        PatchFormat::Merge,
        &format!(
            r#"{{"labels":{{"color":null,"size":null,{}}}}}"#,
            many.join(",")
        ),
    );
    assert_eq!(
        found,
        ["metadata.labels: Too many: 65: must have at most 64 items"]
    );
}
