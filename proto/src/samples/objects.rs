use std::sync::Arc;

use bytes::Bytes;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use synod_model::{
    Annotations, Attributes, Collection, CollectionRules, Compare, Content, CreateObject,
    DeleteObject, Deletion, Fences, FieldSelector, Finalizers, LabelSelector, MediaType,
    MetadataPatch, Namespace, Object, ObjectKey, ObjectName, Operation, OwnerReference,
    OwnerReferences, Patch, PatchFormat, PatchObject, Preconditions, Propagation, Revision,
    TtlChange, Uid, UpdateObject, WallTime,
};

use super::{api_version, kind, labels, metadata, resource, revision, ttl};

fn uid() -> impl Strategy<Value = Uid> {
    any::<[u8; 16]>().prop_map(Uid::from_bytes)
}

pub(crate) fn namespace() -> impl Strategy<Value = Namespace> {
    "[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?".prop_map(|text| Namespace::parse(&text).unwrap())
}

fn object_name() -> impl Strategy<Value = ObjectName> {
    "[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\\.[a-z0-9]{1,10}){0,2}"
        .prop_map(|text| ObjectName::parse(&text).unwrap())
}

pub(crate) fn object_key() -> impl Strategy<Value = ObjectKey> {
    (resource(), option::of(namespace()), object_name())
        .prop_map(|(resource, namespace, name)| ObjectKey::new(resource, namespace.as_ref(), &name))
}

pub(crate) fn label_selector() -> impl Strategy<Value = LabelSelector> {
    select(vec![
        "",
        "a",
        "!a",
        "a=b",
        "a!=b,c",
        "a in (b,c),!d",
        "e notin (f,g)",
    ])
    .prop_map(|text| LabelSelector::parse(text).unwrap())
}

pub(crate) fn field_selector() -> impl Strategy<Value = FieldSelector> {
    select(vec![
        "",
        "metadata.name=a",
        "metadata.namespace!=b,metadata.name=c",
    ])
    .prop_map(|text| FieldSelector::parse(text).unwrap())
}

fn owner() -> impl Strategy<Value = OwnerReference> {
    (api_version(), kind(), object_name(), uid(), any::<bool>()).prop_map(
        |(api_version, kind, name, uid, block_owner_deletion)| OwnerReference {
            api_version,
            kind,
            name,
            uid,
            controller: false,
            block_owner_deletion,
        },
    )
}

fn attributes() -> impl Strategy<Value = Attributes> {
    (
        labels(),
        btree_map("[a-z]{1,8}", "[ -~]{0,30}", 0..4),
        vec(owner(), 0..3),
        btree_set("[a-z]{1,8}\\.example/[a-z]{1,8}", 0..3),
    )
        .prop_map(|(labels, annotations, owners, finalizers)| Attributes {
            labels,
            annotations: Annotations::parse(annotations).unwrap(),
            owners: OwnerReferences::new(owners).unwrap(),
            finalizers: Finalizers::parse(finalizers).unwrap(),
        })
}

fn content() -> impl Strategy<Value = Content> {
    let json = select(vec!["application/json", "text/x.y+json"]);
    let documents =
        (json, any::<u64>()).prop_map(|(kind, number)| (kind, number.to_string().into()));
    let others = vec(any::<u8>(), 0..50).prop_map(|data| ("application/cbor", Bytes::from(data)));
    (api_version(), prop_oneof![documents, others]).prop_map(|(encoding, (media_type, data))| {
        Content {
            encoding,
            media_type: MediaType::parse(media_type).unwrap(),
            data,
        }
    })
}

pub(crate) fn preconditions() -> impl Strategy<Value = Preconditions> {
    (option::of(uid()), option::of(revision())).prop_map(|(uid, resource_version)| Preconditions {
        uid,
        resource_version,
    })
}

pub(crate) fn object() -> impl Strategy<Value = Object> {
    let deletion = option::of(any::<u32>()).prop_map(|ms| {
        ms.map(|ms| {
            Arc::new(Deletion {
                at: WallTime::from_millis(ms.into()),
                revision: Revision::ZERO,
                position: 0,
            })
        })
    });
    let content = (content(), revision());
    (object_key(), metadata(), attributes(), deletion, content).prop_map(
        |(key, metadata, attributes, deletion, (content, content_revision))| Object {
            key,
            metadata,
            attributes,
            deletion,
            content,
            content_revision,
        },
    )
}

pub(crate) fn collection() -> impl Strategy<Value = Collection> {
    (resource(), metadata(), kind(), any::<bool>(), rules()).prop_map(
        |(resource, metadata, kind, namespaced, rules)| Collection {
            resource,
            metadata,
            kind,
            namespaced,
            rules,
        },
    )
}

fn rules() -> impl Strategy<Value = CollectionRules> {
    any::<[bool; 4]>().prop_map(
        |[
            strict_storage_version,
            create_on_update,
            unconditional_update,
            status_subresource,
        ]| CollectionRules {
            strict_storage_version,
            create_on_update,
            unconditional_update,
            status_subresource,
        },
    )
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let fences = Fences::default;
    let create = (object_key(), attributes(), content(), option::of(ttl())).prop_map(
        move |(key, attributes, content, ttl)| {
            Operation::Create(CreateObject {
                key,
                attributes,
                content,
                ttl,
                fences: fences(),
            })
        },
    );
    let update = (
        object_key(),
        attributes(),
        content(),
        ttl_change(),
        preconditions(),
    )
        .prop_map(move |(key, attributes, content, ttl, preconditions)| {
            Operation::Update(UpdateObject {
                key,
                attributes,
                content,
                ttl,
                preconditions,
                fences: fences(),
            })
        });
    let patch = (object_key(), patches(), preconditions()).prop_map(
        move |(key, (data, metadata, ttl), preconditions)| {
            Operation::Patch(PatchObject {
                key,
                data,
                metadata,
                ttl,
                preconditions,
                fences: fences(),
            })
        },
    );
    let propagations = vec![
        None,
        Some(Propagation::Background),
        Some(Propagation::Foreground),
        Some(Propagation::Orphan),
    ];
    let delete = (object_key(), select(propagations), preconditions()).prop_map(
        move |(key, propagation, preconditions)| {
            Operation::Delete(DeleteObject {
                key,
                propagation,
                preconditions,
                fences: fences(),
            })
        },
    );
    prop_oneof![create, update, patch, delete]
}

fn ttl_change() -> impl Strategy<Value = TtlChange> {
    prop_oneof![
        Just(TtlChange::Keep),
        ttl().prop_map(TtlChange::Set),
        Just(TtlChange::Remove),
    ]
}

/// What a patch changes: at least one of these.
fn patches() -> impl Strategy<Value = (Option<Patch>, Option<MetadataPatch>, TtlChange)> {
    let written = || {
        let formats = select(vec![PatchFormat::Merge, PatchFormat::Json]);
        (formats, vec(any::<u8>(), 0..50))
    };
    let data = (api_version(), written()).prop_map(|(encoding, (format, document))| Patch {
        encoding,
        format,
        document: document.into(),
    });
    let metadata = written().prop_map(|(format, document)| MetadataPatch {
        format,
        document: document.into(),
    });
    let all = (option::of(data), option::of(metadata), ttl_change());
    all.prop_filter("it changes something", |all| {
        *all != (None, None, TtlChange::Keep)
    })
}

pub(crate) fn compare() -> impl Strategy<Value = Compare> {
    prop_oneof![
        (object_key(), revision()).prop_map(|(key, at)| Compare::ResourceVersion(key, at)),
        object_key().prop_map(Compare::Exists),
        object_key().prop_map(Compare::Absent),
        (resource(), option::of(api_version()))
            .prop_map(|(resource, version)| Compare::Selected(resource, version)),
    ]
}
