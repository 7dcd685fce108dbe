use bytes::Bytes;

use super::*;
use crate::limits::{OBJECT_BYTES_MAX, TRANSACTION_OPERATIONS_MAX};
use crate::{
    ApiVersion, Attributes, Content, Fences, FencingToken, Kind, LeaseKey, MediaType,
    MetadataPatch, ObjectKey, ObjectName, Patch, PatchFormat, Preconditions, TtlChange,
};

fn key(name: &str) -> ObjectKey {
    let resource = GroupResource::new("example.io", "widgets").unwrap();
    ObjectKey::new(resource, None, &ObjectName::parse(name).unwrap())
}

fn content(bytes: usize) -> Content {
    Content {
        encoding: ApiVersion::parse("example.io/v1").unwrap(),
        media_type: MediaType::parse("application/octet-stream").unwrap(),
        data: Bytes::from(vec![0; bytes]),
    }
}

fn create(bytes: usize) -> CreateObject {
    CreateObject {
        key: key("a"),
        attributes: Attributes::default(),
        content: content(bytes),
        ttl: None,
        fences: Fences::default(),
    }
}

fn delete(name: &str) -> DeleteObject {
    DeleteObject {
        key: key(name),
        propagation: None,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    }
}

fn patch(bytes: usize) -> PatchObject {
    PatchObject {
        key: key("a"),
        data: Some(Patch {
            encoding: content(0).encoding,
            format: PatchFormat::Merge,
            document: Bytes::from(vec![b' '; bytes]),
        }),
        metadata: None,
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    }
}

#[test]
fn data_of_one_mebibyte_is_allowed_and_one_byte_more_is_not() {
    assert!(create(OBJECT_BYTES_MAX - 1).check().is_empty());
    assert!(create(OBJECT_BYTES_MAX).check().is_empty());
    let beyond = create(OBJECT_BYTES_MAX + 1);
    assert_eq!(
        texts(&beyond.check()),
        ["content.data: Too long: may not be more than 1048576 bytes"]
    );
    let update = UpdateObject {
        key: key("a"),
        attributes: Attributes::default(),
        content: beyond.content,
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    };
    assert_eq!(update.check().len(), 1);
    assert!(patch(OBJECT_BYTES_MAX).check().is_empty());
    assert_eq!(
        texts(&patch(OBJECT_BYTES_MAX + 1).check()),
        ["patch.document: Too long: may not be more than 1048576 bytes"]
    );
}

#[test]
fn a_patch_changes_the_data_the_metadata_or_the_ttl_and_each_document_is_bounded() {
    let nothing = PatchObject {
        data: None,
        ..patch(0)
    };
    assert_eq!(
        texts(&nothing.check()),
        [
            "patch: Required value: must change the data (patch), the metadata (metadataPatch) or the TTL"
        ]
    );
    let timed = PatchObject {
        ttl: TtlChange::Remove,
        ..nothing.clone()
    };
    assert!(timed.check().is_empty());
    let said = |bytes: usize| PatchObject {
        metadata: Some(MetadataPatch {
            format: PatchFormat::Merge,
            document: Bytes::from(vec![b' '; bytes]),
        }),
        ..nothing.clone()
    };
    assert!(said(OBJECT_BYTES_MAX - 1).check().is_empty());
    assert!(said(OBJECT_BYTES_MAX).check().is_empty());
    assert_eq!(
        texts(&said(OBJECT_BYTES_MAX + 1).check()),
        ["metadataPatch.document: Too long: may not be more than 1048576 bytes"]
    );
}

#[test]
fn what_a_change_was_made_for_and_who_may_make_it_must_be_able_to_exist() {
    let nowhere = DeleteObject {
        preconditions: Preconditions {
            uid: None,
            resource_version: Some(Revision::ZERO),
        },
        fences: Fences {
            if_member: Some((member(), epoch(0))),
            if_lease: Some((
                LeaseKey::new("ns", "lock").unwrap(),
                FencingToken::new(Revision::ZERO),
            )),
        },
        ..delete("a")
    };
    let faults = texts(&nowhere.check());
    assert!(
        faults[0].starts_with("preconditions.resourceVersion: Invalid value: 0: must be"),
        "{faults:?}"
    );
    assert!(
        faults[1].starts_with("fences.ifMember.epoch: Required value"),
        "{faults:?}"
    );
    assert!(
        faults[2].starts_with("fences.ifLease.token: "),
        "{faults:?}"
    );
}

#[test]
fn a_transaction_of_128_operations_is_allowed_and_one_more_is_not() {
    let of = |count: usize| Transact {
        compares: vec![Compare::Exists(key("a")); count],
        operations: (0..count)
            .map(|i| Operation::Delete(delete(&format!("o-{i}"))))
            .collect(),
        reads: vec![key("a"); count],
        fences: Fences::default(),
    };
    assert!(of(TRANSACTION_OPERATIONS_MAX - 1).check().is_empty());
    assert!(of(TRANSACTION_OPERATIONS_MAX).check().is_empty());
    let faults = of(TRANSACTION_OPERATIONS_MAX + 1).check();
    let fields: Vec<&str> = faults.iter().map(|fault| &*fault.field).collect();
    assert_eq!(fields, ["compares", "operations", "reads"]);
}

#[test]
fn a_transaction_names_each_fault_of_each_operation_and_no_key_twice() {
    let transact = Transact {
        compares: vec![Compare::ResourceVersion(key("a"), Revision::ZERO)],
        operations: vec![
            Operation::Create(create(OBJECT_BYTES_MAX + 1)),
            Operation::Patch(patch(OBJECT_BYTES_MAX + 1)),
            Operation::Delete(delete("b")),
        ],
        reads: Vec::new(),
        fences: Fences::default(),
    };
    let faults = transact.check();
    let fields: Vec<&str> = faults.iter().map(|fault| &*fault.field).collect();
    assert_eq!(
        fields,
        [
            "compares[0].resourceVersion",
            "operations[0].content.data",
            "operations[1].patch.document",
            "operations[1].key"
        ]
    );
}

#[test]
fn an_update_of_a_collection_must_name_a_rule_or_the_kind() {
    let update = UpdateCollection {
        resource: key("a").resource,
        strict_storage_version: None,
        create_on_update: None,
        unconditional_update: None,
        status_subresource: None,
        kind: None,
        preconditions: Preconditions::default(),
    };
    assert_eq!(update.check().len(), 1);
    let ruled = UpdateCollection {
        create_on_update: Some(false),
        ..update.clone()
    };
    assert!(ruled.check().is_empty());
    let corrected = UpdateCollection {
        kind: Kind::parse("Widget").ok(),
        ..update
    };
    assert!(corrected.check().is_empty());
}
