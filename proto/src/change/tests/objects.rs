use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use synod_model::limits::{OBJECT_BYTES_MAX, TRANSACTION_OPERATIONS_MAX};
use synod_model::{
    CreateCollection, CreateObject, DeleteCollection, DeleteObject, Fences, Operation, PatchObject,
    Transact, UpdateCollection, UpdateObject,
};

use super::{carried, change, faults};
use crate::{Change, samples, v1};

fn fences() -> impl Strategy<Value = Fences> {
    let member = (samples::member_id(), samples::epoch());
    let lease = (samples::lease_key(), samples::fencing_token());
    (option::of(member), option::of(lease)).prop_map(|(if_member, if_lease)| Fences {
        if_member,
        if_lease,
    })
}

/// A change under these fences: without a member it names no cluster of an epoch, and without a lease none of a token.
fn fenced<T>(mut change: Change<T>, fences: Fences, of: fn(&mut T) -> &mut Fences) -> Change<T> {
    change.token_cluster = change.epoch_cluster.filter(|_| fences.if_lease.is_some());
    change.epoch_cluster = change.epoch_cluster.filter(|_| fences.if_member.is_some());
    *of(&mut change.body) = fences;
    change
}

fn transact() -> impl Strategy<Value = Transact> {
    let lists = (
        vec(samples::compare(), 0..4),
        vec(samples::operation(), 0..4),
        vec(samples::object_key(), 0..4),
    );
    lists.prop_map(|(compares, mut operations, reads)| {
        let mut seen = std::collections::BTreeSet::new();
        operations.retain(|operation| seen.insert(operation.key().clone()));
        Transact {
            compares,
            operations,
            reads,
            fences: Fences::default(),
        }
    })
}

proptest! {
    #[test]
    fn a_change_of_one_object_is_carried_whole(
        change in change(samples::operation(), true),
        fences in fences(),
    ) {
        let Change { key, session_cluster, epoch_cluster, token_cluster, body } = change;
        macro_rules! check {
            ($body:expr, $message:ty, $type:ty) => {{
                let change = Change { key, session_cluster, epoch_cluster, token_cluster, body: $body };
                let change = fenced(change, fences, |body: &mut $type| &mut body.fences);
                prop_assert_eq!(carried::<_, $message>(&change).unwrap(), change);
            }};
        }
        match body {
            Operation::Create(body) => check!(body, v1::ObjectsCreateRequest, CreateObject),
            Operation::Update(body) => check!(body, v1::ObjectsUpdateRequest, UpdateObject),
            Operation::Patch(body) => check!(body, v1::ObjectsPatchRequest, PatchObject),
            Operation::Delete(body) => check!(body, v1::ObjectsDeleteRequest, DeleteObject),
        }
    }

    #[test]
    fn a_transaction_is_carried_whole(change in change(transact(), true), fences in fences()) {
        let change = fenced(change, fences, |body| &mut body.fences);
        prop_assert_eq!(carried::<_, v1::ObjectsTransactRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_change_of_a_collection_is_carried_whole(
        collection in change(samples::collection(), false),
        preconditions in samples::preconditions(),
        rules in any::<[Option<bool>; 4]>(),
        corrected in option::of(samples::kind()),
    ) {
        let Change { key, session_cluster, epoch_cluster, token_cluster, body } = collection;
        let resource = body.resource.clone();
        let create = Change { key, session_cluster, epoch_cluster, token_cluster, body: CreateCollection {
            resource: body.resource, kind: body.kind, namespaced: body.namespaced, rules: body.rules,
        } };
        prop_assert_eq!(carried::<_, v1::CollectionsCreateRequest>(&create).unwrap(), create);
        let delete = Change { key, session_cluster, epoch_cluster, token_cluster, body: DeleteCollection {
            resource: resource.clone(), preconditions,
        } };
        prop_assert_eq!(carried::<_, v1::CollectionsDeleteRequest>(&delete).unwrap(), delete);
        let [strict_storage_version, create_on_update, unconditional_update, status_subresource] = rules;
        let update = Change { key, session_cluster, epoch_cluster, token_cluster, body: UpdateCollection {
            resource, strict_storage_version, create_on_update, unconditional_update, status_subresource,
            kind: corrected.clone(), preconditions,
        } };
        let sent = carried::<_, v1::CollectionsUpdateRequest>(&update);
        if rules == [None; 4] && corrected.is_none() {
            prop_assert!(sent.is_err());
        } else {
            prop_assert_eq!(sent.unwrap(), update);
        }
    }
}

fn key(name: &str) -> Option<v1::ObjectKey> {
    Some(v1::ObjectKey {
        resource: Some(v1::GroupResource {
            group: "example.io".into(),
            resource: "widgets".into(),
        }),
        namespace: "a".into(),
        name: name.into(),
    })
}

/// A JSON document of so many bytes.
fn content(bytes: usize) -> Option<v1::ObjectContent> {
    let mut data = vec![b' '; bytes];
    data[0] = b'0';
    Some(v1::ObjectContent {
        encoding_version: "example.io/v1".into(),
        media_type: String::new(),
        data: data.into(),
    })
}

#[test]
fn every_fault_of_a_written_object_is_named() {
    let request = v1::ObjectsCreateRequest {
        key: key("A"),
        attributes: Some(v1::ObjectAttributes {
            labels: [("-".into(), String::new())].into(),
            annotations: [("-".into(), String::new())].into(),
            owner_references: vec![v1::OwnerReference::default()],
            finalizers: vec!["?".into()],
        }),
        content: Some(v1::ObjectContent {
            media_type: "TEXT; x".into(),
            ..Default::default()
        }),
        ttl_ms: Some(1),
        fences: Some(v1::Fences {
            if_member: Some(v1::MemberEpoch::default()),
            if_lease: Some(v1::LeaseToken::default()),
        }),
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<CreateObject>::try_from(request)),
        [
            "fences.ifMember.member",
            "fences.ifMember.epoch",
            "fences.ifLease.lease",
            "fences.ifLease.token",
            "key.name",
            "attributes.labels",
            "attributes.annotations",
            "attributes.ownerReferences[0].apiVersion",
            "attributes.ownerReferences[0].kind",
            "attributes.ownerReferences[0].name",
            "attributes.ownerReferences[0].uid",
            "attributes.finalizers[0]",
            "content.encodingVersion",
            "content.mediaType",
            "ttlMs",
        ]
    );
}

#[test]
fn every_fault_of_an_update_a_deletion_and_a_patch_is_named() {
    let nothing = v1::ObjectsUpdateRequest {
        preconditions: Some(v1::Preconditions {
            uid: "x".into(),
            resource_version: Some(0),
        }),
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<UpdateObject>::try_from(nothing)),
        [
            "key",
            "content",
            "preconditions.uid",
            "preconditions.resourceVersion"
        ]
    );
    let delete = v1::ObjectsDeleteRequest {
        key: key("a"),
        propagation: 99,
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<DeleteObject>::try_from(delete)),
        ["propagation"]
    );
    assert_eq!(
        faults(Change::<PatchObject>::try_from(v1::ObjectsPatchRequest {
            key: key("a"),
            patch: Some(v1::ContentPatch::default()),
            ..Default::default()
        })),
        ["patch.encodingVersion", "patch.format"]
    );
    let both_ways = v1::ObjectsPatchRequest {
        key: key("a"),
        metadata_patch: Some(v1::MetadataPatch::default()),
        ttl_ms: Some(1_000),
        remove_ttl: true,
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<PatchObject>::try_from(both_ways)),
        ["removeTtl", "metadataPatch.format"]
    );
    let nothing = v1::ObjectsPatchRequest {
        key: key("a"),
        ..Default::default()
    };
    assert_eq!(faults(Change::<PatchObject>::try_from(nothing)), ["patch"]);
}

#[test]
fn data_of_a_mebibyte_is_allowed_and_one_byte_more_is_not() {
    let create = |bytes| {
        Change::<CreateObject>::try_from(v1::ObjectsCreateRequest {
            key: key("a"),
            content: content(bytes),
            ..Default::default()
        })
    };
    assert!(create(OBJECT_BYTES_MAX - 1).is_ok());
    assert!(create(OBJECT_BYTES_MAX).is_ok());
    assert_eq!(faults(create(OBJECT_BYTES_MAX + 1)), ["content.data"]);
    let patch = |bytes: usize| {
        Change::<PatchObject>::try_from(v1::ObjectsPatchRequest {
            key: key("a"),
            patch: Some(v1::ContentPatch {
                encoding_version: "example.io/v1".into(),
                format: v1::PatchFormat::Merge.into(),
                document: vec![b' '; bytes].into(),
            }),
            ..Default::default()
        })
    };
    assert!(patch(OBJECT_BYTES_MAX).is_ok());
    assert_eq!(faults(patch(OBJECT_BYTES_MAX + 1)), ["patch.document"]);
    let patch = |bytes: usize| {
        Change::<PatchObject>::try_from(v1::ObjectsPatchRequest {
            key: key("a"),
            metadata_patch: Some(v1::MetadataPatch {
                format: v1::PatchFormat::Merge.into(),
                document: vec![b' '; bytes].into(),
            }),
            ..Default::default()
        })
    };
    assert!(patch(OBJECT_BYTES_MAX).is_ok());
    assert_eq!(
        faults(patch(OBJECT_BYTES_MAX + 1)),
        ["metadataPatch.document"]
    );
}

#[test]
fn a_transaction_has_no_more_than_it_may_and_no_key_twice() {
    let create = |i: usize| v1::ObjectsOperation {
        operation: Some(v1::objects_operation::Operation::Create(
            v1::CreateOperation {
                key: key(&format!("n{i}")),
                content: content(1),
                ..Default::default()
            },
        )),
    };
    let transact = |operations| {
        Change::<Transact>::try_from(v1::ObjectsTransactRequest {
            operations,
            ..Default::default()
        })
    };
    let of = |count| transact((0..count).map(create).collect());
    assert!(of(TRANSACTION_OPERATIONS_MAX - 1).is_ok());
    assert!(of(TRANSACTION_OPERATIONS_MAX).is_ok());
    assert_eq!(faults(of(TRANSACTION_OPERATIONS_MAX + 1)), ["operations"]);
    assert_eq!(
        faults(transact(vec![create(1), create(2), create(1)])),
        ["operations[2].key"]
    );
    assert_eq!(
        faults(transact(vec![v1::ObjectsOperation::default()])),
        ["operations[0]"]
    );
    let compares = v1::ObjectsTransactRequest {
        compares: vec![
            v1::ObjectsCompare::default(),
            v1::ObjectsCompare {
                compare: Some(v1::objects_compare::Compare::Existence(
                    v1::CompareExistence {
                        key: key("?"),
                        exists: true,
                    },
                )),
            },
        ],
        ..Default::default()
    };
    assert_eq!(
        faults(Change::<Transact>::try_from(compares)),
        ["compares[0]", "compares[1].existence.key.name"]
    );
}
