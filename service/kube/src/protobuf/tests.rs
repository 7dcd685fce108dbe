//! Messages of Go, documents there and back, and bytes that nobody meant well.

use data_encoding::HEXLOWER;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::bounded::VALUES_MAX;

fn lease() -> &'static Message {
    of("coordination.k8s.io/v1", "Lease").unwrap()
}

/// A document of each kind that has a message, with all that it can tell.
fn documents() -> Vec<Value> {
    let metadata = json!({
        "name": "a", "generateName": "a-", "namespace": "n", "uid": "u", "resourceVersion": "7",
        "generation": 3, "creationTimestamp": "2023-11-14T22:13:20Z", "deletionTimestamp": "2023-11-14T22:13:21Z",
        "deletionGracePeriodSeconds": 0, "labels": {"l": "1", "": ""}, "annotations": {"a": "ä"},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "o", "controller": true,
             "blockOwnerDeletion": false},
        ],
        "finalizers": ["x", ""],
        "managedFields": [
            {"manager": "m", "operation": "Update", "apiVersion": "v1", "time": "2023-11-14T22:13:20Z",
             "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}, "subresource": "status"},
        ],
    });
    let condition = json!({
        "type": "Running", "status": "True", "observedGeneration": 2, "reason": "R", "message": "M",
        "lastTransitionTime": "2023-11-14T22:13:20Z",
    });
    vec![
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": {
            "holderIdentity": "x", "leaseDurationSeconds": 15, "acquireTime": "2023-11-14T22:13:20.123000Z",
            "renewTime": "2023-11-14T22:13:20.000001Z", "leaseTransitions": 0, "strategy": "OldestEmulationVersion",
            "preferredHolder": "y"}}),
        json!({"apiVersion": "coordination.k8s.io/v1beta1", "kind": "LeaseCandidate", "metadata": metadata, "spec": {
            "leaseName": "l", "pingTime": "2023-11-14T22:13:20.123000Z", "renewTime": "2023-11-14T22:13:20.000001Z",
            "binaryVersion": "1.2.3", "emulationVersion": "1.2.0", "strategy": "OldestEmulationVersion"}}),
        json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "revision": -1,
            "data": {"spec": {"template": [1, 2.5, null, true, "x"]}}}),
        json!({"apiVersion": "internal.apiserver.k8s.io/v1alpha1", "kind": "StorageVersion", "metadata": metadata,
            "spec": {}, "status": {"commonEncodingVersion": "apps/v1", "conditions": [condition], "storageVersions": [
                {"apiServerID": "s", "encodingVersion": "v1", "decodableVersions": ["v1", "v2"],
                 "servedVersions": ["v1"]}]}}),
        json!({"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
            "metadata": metadata, "spec": {"resource": {"group": "apps", "resource": "deployments"}},
            "status": {"conditions": [condition], "resourceVersion": "9"}}),
        json!({"apiVersion": "storagemigration.k8s.io/v1beta1", "kind": "StorageVersionMigration",
            "metadata": metadata, "spec": {"resource": {"group": "apps", "resource": "deployments"}},
            "status": {"conditions": [condition], "resourceVersion": "9"}}),
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata}),
        json!({"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "message": "no",
            "reason": "Invalid", "code": 422, "details": {"name": "a", "group": "g", "kind": "K", "uid": "u",
            "causes": [{"reason": "r", "message": "m", "field": "f"}], "retryAfterSeconds": 1}}),
    ]
}

fn read_as(document: &Value, bytes: &Bytes) -> Value {
    let name = |member: &str| document[member].as_str().unwrap();
    let message = of(name("apiVersion"), name("kind")).unwrap();
    read(message, bytes).unwrap()
}

#[test]
fn a_document_comes_back_as_it_was_written() {
    for document in documents() {
        let bytes = written(&document).unwrap();
        assert_eq!(read_as(&document, &bytes), document);
    }
    let widget = json!({"apiVersion": "example.io/v1", "kind": "Widget"});
    assert_eq!(written(&widget), None);
    let many = json!({"apiVersion": "example.io/v1", "kind": "WidgetList"});
    assert_eq!(written(&many), None);
}

#[test]
fn what_a_message_does_not_have_is_left_out_of_it() {
    let document = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "a", "labels": null, "finalizers": "x", "creationTimestamp": "never"},
        "spec": {"holderIdentity": 1, "color": "red"},
    });
    let told = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": {},
    });
    // A member of another type is told nowhere else either: what is kept has the types of its kind.
    let bytes = written(&document).unwrap();
    let read = read_as(&document, &bytes);
    assert_eq!(read["metadata"]["name"], told["metadata"]["name"]);
    assert_eq!(read["spec"], told["spec"]);
}

/// Bytes of `k8s.io/apimachinery` 0.37: a Lease that client-go creates, and what its JSON would be.
#[test]
fn bytes_of_go_are_read_as_go_means_them() {
    let bytes = include_str!("lease.hex")
        .split_whitespace()
        .collect::<String>();
    let bytes: Bytes = HEXLOWER.decode(bytes.as_bytes()).unwrap().into();
    let read = read(lease(), &bytes).unwrap();
    let expected = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": "election", "generateName": "", "namespace": "clients", "selfLink": "", "uid": "",
            "resourceVersion": "", "generation": 0, "creationTimestamp": null, "labels": {"app": "x"},
        },
        "spec": {
            "holderIdentity": "one", "leaseDurationSeconds": 15, "leaseTransitions": 0,
            "acquireTime": "2023-11-14T22:13:20.123456Z", "renewTime": "2023-11-14T22:13:20.123456Z",
        },
    });
    assert_eq!(read, expected);
}

#[test]
fn an_event_has_its_length_before_it_and_its_object_in_an_envelope() {
    let object = &documents()[0];
    let event = event("ADDED", object).unwrap();
    let (length, event) = event.split_at(4);
    assert_eq!(length, u32::try_from(event.len()).unwrap().to_be_bytes());
    let envelope = written(object).unwrap();
    assert!(event.starts_with(b"\x0a\x05ADDED\x12"));
    assert!(event.ends_with(&envelope));
}

#[test]
fn bytes_that_are_no_message_are_refused() {
    let enveloped = |message: &[u8]| {
        let envelope = Envelope {
            names: None,
            message: message.to_vec().into(),
            encoding: String::new(),
        };
        let bytes: Bytes = [MAGIC, &envelope.encode_to_vec()].concat().into();
        read(lease(), &bytes).map_err(|fault| fault.to_string())
    };
    assert_eq!(enveloped(b""), Ok(json!({})));
    for (message, fault) in [
        (&b"\x0a\x05\x0a"[..], "cut off"),
        (b"\x08\x01", "wire type"),
        (b"\x0a\x03\x0a\x01\xff", "UTF-8"),
        // A time far behind the last year, and one whose second has more than its billionth.
        (
            b"\x12\x0d\x1a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            "cut off",
        ),
        (
            b"\x12\x0c\x1a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            "no time",
        ),
        (b"\x12\x08\x1a\x06\x10\xff\xff\xff\xff\x7f", "no time"),
    ] {
        let refused = enveloped(message).unwrap_err();
        assert!(refused.contains(fault), "{message:?}: {refused}");
    }
    for bytes in [&b""[..], b"k8s", b"{}", b"k8s\0\x12\x05"] {
        assert!(read(lease(), &Bytes::copy_from_slice(bytes)).is_err());
    }
}

// Guarantee: TM-17
#[test]
fn a_short_message_of_many_values_is_refused() {
    let finalizers = |count: usize| {
        let metadata = [0x72, 0x00].repeat(count);
        let mut message = Vec::new();
        prost::encoding::bytes::encode(1, &metadata, &mut message);
        let envelope = Envelope {
            names: None,
            message: message.into(),
            encoding: String::new(),
        };
        let bytes: Bytes = [MAGIC, &envelope.encode_to_vec()].concat().into();
        read(lease(), &bytes).map(drop)
    };
    assert!(finalizers(1_000).is_ok());
    assert!(finalizers(VALUES_MAX).is_err());
}

proptest! {
    /// Whatever is sent is read or refused, and what is read can be told again.
    // Guarantee: TM-17
    #[test]
    fn no_bytes_are_too_odd(
        which in 0_usize..7,
        noise in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
        tail in proptest::collection::vec(any::<u8>(), 0..16),
    ) {
        let document = &documents()[which];
        let mut bytes = written(document).unwrap().to_vec();
        for (place, byte) in noise {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        bytes.extend(tail);
        for message in [lease(), delete_options(), of("apps/v1", "ControllerRevision").unwrap()] {
            if let Ok(read) = read(message, &bytes.clone().into()) {
                let _ = written(&read);
            }
        }
    }

    #[test]
    fn random_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let bytes: Bytes = [MAGIC, &[0x12, u8::try_from(bytes.len().min(127)).unwrap()], &bytes].concat().into();
        let _ = read(lease(), &bytes);
    }
}
