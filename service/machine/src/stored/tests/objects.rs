//! Commands on collections and objects, with every field set.

use crate::{Aftermath, CollectGarbage, Cursor, Fate, FollowSwitches, Garbage};
use bytes::Bytes;
use synod_model::{
    Annotations, Attributes, CollectionRules, Compare, Content, CreateCollection, CreateObject,
    DeleteCollection, DeleteObject, Fences, Finalizers, MediaType, MetadataPatch, Namespace,
    ObjectKey, ObjectName, Operation, OwnerReference, OwnerReferences, Patch, PatchFormat,
    PatchObject, Preconditions, Propagation, Transact, TtlChange, Uid, UpdateCollection,
    UpdateObject,
};

use super::*;

pub(super) fn object_key(name: &str) -> ObjectKey {
    let namespace = Namespace::parse("default").unwrap();
    let name = ObjectName::parse(name).unwrap();
    ObjectKey::new(resource("gadgets"), Some(&namespace), &name)
}

fn attributes() -> Attributes {
    let owner = |number: u8, controller| OwnerReference {
        api_version: version("example.io/v1"),
        kind: Kind::parse("Gadget").unwrap(),
        name: ObjectName::parse("owner").unwrap(),
        uid: Uid::from_bytes([number; 16]),
        controller,
        block_owner_deletion: !controller,
    };
    Attributes {
        labels: Labels::parse([("color", "red")]).unwrap(),
        annotations: Annotations::parse([("note", "any text")]).unwrap(),
        owners: OwnerReferences::new(vec![owner(1, true), owner(2, false)]).unwrap(),
        finalizers: Finalizers::parse(["example.io/wait", "orphan"]).unwrap(),
    }
}

fn content() -> Content {
    Content {
        encoding: version("example.io/v1"),
        media_type: MediaType::parse("application/cbor").unwrap(),
        data: Bytes::from_static(b"\xa0"),
    }
}

fn preconditions() -> Preconditions {
    Preconditions {
        uid: Some(Uid::from_bytes([3; 16])),
        resource_version: Some(Revision::new(7)),
    }
}

fn fences() -> Fences {
    Fences {
        if_member: Some((member("a"), epoch(4))),
        if_lease: Some((
            LeaseKey::new("ns", "lock").unwrap(),
            FencingToken::new(Revision::new(5)),
        )),
    }
}

fn delete(name: &str, propagation: Option<Propagation>) -> DeleteObject {
    DeleteObject {
        key: object_key(name),
        propagation,
        preconditions: preconditions(),
        fences: fences(),
    }
}

fn patch(format: PatchFormat) -> PatchObject {
    PatchObject {
        key: object_key("patched"),
        data: Some(Patch {
            encoding: version("example.io/v1"),
            format,
            document: Bytes::from_static(b"{}"),
        }),
        metadata: Some(MetadataPatch {
            format,
            document: Bytes::from_static(b"[]"),
        }),
        ttl: TtlChange::Set(Ttl::DEFAULT),
        preconditions: preconditions(),
        fences: fences(),
    }
}

fn update() -> UpdateObject {
    UpdateObject {
        key: object_key("updated"),
        attributes: attributes(),
        content: content(),
        ttl: TtlChange::Set(Ttl::MAX),
        preconditions: preconditions(),
        fences: fences(),
    }
}

fn create() -> CreateObject {
    CreateObject {
        key: object_key("created"),
        attributes: attributes(),
        content: content(),
        ttl: Some(Ttl::DEFAULT),
        fences: fences(),
    }
}

fn transact() -> Transact {
    let key = || object_key("created");
    Transact {
        compares: vec![
            Compare::ResourceVersion(key(), Revision::new(9)),
            Compare::Exists(key()),
            Compare::Absent(key()),
            Compare::Selected(resource("gadgets"), Some(version("example.io/v1"))),
            Compare::Selected(resource("gadgets"), None),
        ],
        operations: vec![
            Operation::Create(create()),
            Operation::Update(update()),
            Operation::Patch(patch(PatchFormat::Json)),
            Operation::Delete(delete("deleted", Some(Propagation::Foreground))),
        ],
        reads: vec![object_key("read")],
        fences: fences(),
    }
}

/// Declares the collection that has all the objects.
fn declare() -> Command {
    let rules = CollectionRules {
        strict_storage_version: false,
        create_on_update: true,
        unconditional_update: true,
        status_subresource: false,
    };
    Command::CreateCollection(CreateCollection {
        resource: resource("gadgets"),
        kind: Kind::parse("Gadget").unwrap(),
        namespaced: true,
        rules,
    })
}

/// Commands that leave a collection with an object, and then one of each that is refused.
pub(super) fn commands() -> Vec<Command> {
    let plain = CreateObject {
        attributes: Attributes {
            owners: OwnerReferences::default(),
            ..attributes()
        },
        fences: Fences::default(),
        ..create()
    };
    let mark = DeleteObject {
        preconditions: Preconditions::default(),
        fences: Fences::default(),
        ..delete("created", None)
    };
    vec![
        declare(),
        Command::UpdateCollection(UpdateCollection {
            resource: resource("gadgets"),
            strict_storage_version: None,
            create_on_update: Some(false),
            unconditional_update: Some(true),
            status_subresource: None,
            kind: Kind::parse("Gadget").ok(),
            preconditions: Preconditions::default(),
        }),
        Command::CreateObject(plain.clone()),
        Command::Transact(Transact {
            operations: vec![Operation::Create(CreateObject {
                key: object_key("another"),
                ..plain
            })],
            compares: Vec::new(),
            reads: Vec::new(),
            fences: Fences::default(),
        }),
        Command::DeleteObject(mark),
        Command::CollectGarbage(CollectGarbage {}),
        Command::FollowSwitches(FollowSwitches {}),
        Command::CreateObject(create()),
        Command::UpdateObject(update()),
        Command::UpdateObject(UpdateObject {
            ttl: TtlChange::Remove,
            ..update()
        }),
        Command::PatchObject(patch(PatchFormat::Merge)),
        Command::PatchObject(PatchObject {
            data: None,
            ttl: TtlChange::Remove,
            ..patch(PatchFormat::Merge)
        }),
        Command::PatchObject(PatchObject {
            metadata: None,
            ttl: TtlChange::Keep,
            ..patch(PatchFormat::Json)
        }),
        Command::DeleteObject(delete("deleted", Some(Propagation::Background))),
        Command::DeleteObject(delete("deleted", Some(Propagation::Orphan))),
        Command::Transact(transact()),
        Command::DeleteCollection(DeleteCollection {
            resource: resource("gadgets"),
            preconditions: preconditions(),
        }),
    ]
}

#[test]
fn what_deletions_have_left_reads_back_wherever_it_stopped() {
    let cursors = [
        Cursor::Start,
        Cursor::After(object_key("dependent")),
        Cursor::End,
    ];
    for fate in [Fate::Background, Fate::Foreground, Fate::Orphan] {
        for cursor in cursors.clone() {
            let garbage = Garbage {
                owner: object_key("owner"),
                fate,
                cursor,
            };
            let row = Row::Garbage(Uid::from_bytes([5; 16]), Arc::new(garbage));
            assert_eq!(from_bytes::<Row>(&to_bytes(&row)).unwrap(), row);
        }
    }
}

#[test]
fn what_has_to_follow_from_a_switch_reads_back_wherever_it_stopped() {
    let aftermaths = [
        Aftermath::Votes {
            next: Some(resource("gadgets")),
        },
        Aftermath::Leases {
            next: Some(LeaseKey::new("default", "leader").unwrap()),
            ended: Revision::new(7),
        },
        Aftermath::Leases {
            next: None,
            ended: Revision::ZERO,
        },
        Aftermath::Migrations { next: None },
    ];
    for aftermath in aftermaths {
        let row = Row::Aftermath(aftermath);
        assert_eq!(from_bytes::<Row>(&to_bytes(&row)).unwrap(), row);
    }
}

#[test]
fn a_propagation_that_this_build_does_not_know_is_an_error_and_not_the_default() {
    let orphaning = DeleteObject {
        preconditions: Preconditions::default(),
        fences: Fences::default(),
        ..delete("deleted", Some(Propagation::Orphan))
    };
    let mut bytes = to_bytes(&orphaning).to_vec();
    // After it come preconditions and fences without fields.
    let propagation = bytes.len() - 3;
    bytes[propagation] = 99;
    let error = from_bytes::<DeleteObject>(&bytes.into()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("propagation: Propagation has no variant 99"),
        "{error}"
    );
}
