use proptest::prelude::*;

use super::*;
use crate::stored::{from_bytes, to_bytes};
use crate::{
    Annotations, Finalizers, Kind, Labels, Namespace, ObjectName, OwnerReference, OwnerReferences,
    Uid, WallTime,
};

fn attributes(rare: bool) -> Attributes {
    if !rare {
        return Attributes::default();
    }
    let owner = OwnerReference {
        api_version: ApiVersion::parse("apps/v1").unwrap(),
        kind: Kind::parse("Deployment").unwrap(),
        name: ObjectName::parse("web").unwrap(),
        uid: Uid::from_bytes([9; 16]),
        controller: true,
        block_owner_deletion: false,
    };
    Attributes {
        labels: Labels::parse([("app", "web"), ("tier", "")]).unwrap(),
        annotations: Annotations::parse([("note", "any\ntext")]).unwrap(),
        owners: OwnerReferences::new(vec![owner]).unwrap(),
        finalizers: Finalizers::parse(["a"]).unwrap(),
    }
}

prop_compose! {
    fn any_object()(
        name in "[a-z]([a-z0-9.]{0,200}[a-z0-9])?".prop_filter("a subdomain", |name| {
            ObjectName::parse(name).is_ok()
        }),
        namespace in proptest::option::of("[a-z0-9]{1,63}"),
        resource in prop_oneof![Just("pods"), Just("widgets.example.io")],
        uid: [u8; 16],
        numbers: [u64; 5],
        rare: bool,
        deletion in proptest::option::of((any::<u64>(), any::<u64>(), any::<u32>())),
        data in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..300),
            (INLINE_BYTES_MAX - 1..INLINE_BYTES_MAX + 2).prop_map(|length| vec![5; length]),
            Just(vec![6; 9 << 10]),
        ],
        media_type in prop_oneof![Just("application/json"), Just("text/plain")],
    ) -> Object {
        let namespace = namespace.map(|it| Namespace::parse(&it).unwrap());
        let resource = GroupResource::parse_qualified(resource).unwrap();
        let name = ObjectName::parse(&name).unwrap();
        let [resource_version, create_revision, generation, created, content] = numbers;
        Object {
            key: ObjectKey::new(resource, namespace.as_ref(), &name),
            metadata: Metadata {
                uid: Uid::from_bytes(uid),
                resource_version: Revision::new(resource_version),
                create_revision: Revision::new(create_revision),
                generation,
                created: WallTime::from_millis(created),
            },
            attributes: attributes(rare),
            deletion: deletion.map(|(at, revision, position)| {
                Arc::new(Deletion {
                    at: WallTime::from_millis(at),
                    revision: Revision::new(revision),
                    position,
                })
            }),
            content: Content {
                encoding: ApiVersion::parse("example.io/v1").unwrap(),
                media_type: MediaType::parse(media_type).unwrap(),
                data: data.into(),
            },
            content_revision: Revision::new(content),
        }
    }
}

proptest! {
    #[test]
    fn any_object_comes_out_as_it_was_packed(object in any_object()) {
        let packed = PackedObject::from(object.clone());
        prop_assert_eq!(&packed.unpack(), &object);
        prop_assert_eq!(&packed.key(), &object.key);
        prop_assert_eq!(&packed.metadata(), &object.metadata);
        prop_assert_eq!(packed.attributes(), &object.attributes);
        prop_assert_eq!(packed.deletion(), object.deletion.as_deref());
        prop_assert_eq!(packed.data(), &*object.content.data);
        prop_assert_eq!(packed.scope_and_name(), object.key.name.scope_and_name());
    }

    #[test]
    fn any_object_is_stored_as_if_it_were_not_packed(object in any_object()) {
        let bytes = to_bytes(&object);
        let packed = PackedObject::from(object);
        prop_assert_eq!(&to_bytes(&packed), &bytes);
        // The second time, what it has alike with the first is known.
        prop_assert_eq!(&from_bytes::<PackedObject>(&bytes).unwrap(), &packed);
        prop_assert_eq!(from_bytes::<PackedObject>(&bytes).unwrap(), packed);
    }

    #[test]
    fn what_is_no_object_is_no_packed_one_for_the_same_reason(
        object in any_object(),
        at: proptest::sample::Index,
        other: u8,
    ) {
        let mut bytes = to_bytes(&object).to_vec();
        from_bytes::<PackedObject>(&bytes.clone().into()).unwrap();
        *at.get_mut(&mut bytes) = other;
        let bytes = bytes.into();
        let packed = from_bytes::<PackedObject>(&bytes).map(|packed| packed.unpack());
        prop_assert_eq!(packed, from_bytes::<Object>(&bytes));
    }

    #[test]
    fn packed_objects_differ_as_objects_do(one in any_object(), other in any_object()) {
        let packed = |object: &Object| PackedObject::from(object.clone());
        prop_assert_eq!(packed(&one) == packed(&other), one == other);
        prop_assert_eq!(packed(&one), packed(&one));
    }
}

fn plain(name: &str, data: Vec<u8>) -> Object {
    Object {
        key: ObjectKey::new(
            GroupResource::parse_qualified("pods").unwrap(),
            None,
            &ObjectName::parse(name).unwrap(),
        ),
        metadata: Metadata {
            uid: Uid::from_bytes([1; 16]),
            resource_version: Revision::new(1),
            create_revision: Revision::new(1),
            generation: 1,
            created: WallTime::from_millis(1),
        },
        attributes: Attributes::default(),
        deletion: None,
        content: Content {
            encoding: ApiVersion::parse("v1").unwrap(),
            media_type: MediaType::JSON,
            data: data.into(),
        },
        content_revision: Revision::new(1),
    }
}

#[test]
fn long_data_is_shared_and_not_copied() {
    let object = plain("one", vec![1; INLINE_BYTES_MAX + 1]);
    let packed = PackedObject::from(object.clone());
    assert_eq!(packed.data().as_ptr(), object.content.data.as_ptr());
    let unpacked = packed.unpack();
    assert_eq!(unpacked.content.data.as_ptr(), object.content.data.as_ptr());
}

#[test]
fn objects_that_are_read_share_what_they_have_alike() {
    let read = |name: &str| -> PackedObject {
        from_bytes(&to_bytes(&plain(name, b"{}".to_vec()))).unwrap()
    };
    let (one, other) = (read("one"), read("other"));
    assert!(Arc::ptr_eq(one.alike(), other.alike()));
}
