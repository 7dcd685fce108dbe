//! Any legal ControllerRevision, and what can be asked of one.

use bytes::Bytes;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use synod_model::{
    Annotations, ApiVersion, ControllerRevision, Kind, LiveMarks, Marker, MediaType, Namespace,
    NamespacedName, ObjectName, OwnerReference, RevisionData, RevisionNumber, Uid,
};

use super::{labels, metadata};

pub(crate) fn scope() -> impl Strategy<Value = Namespace> {
    "[a-z]([-a-z0-9]{0,8}[a-z0-9])?".prop_map(|text| Namespace::parse(&text).unwrap())
}

pub(crate) fn revision_name() -> impl Strategy<Value = ObjectName> {
    "[a-z]([-a-z0-9]{0,8}[a-z0-9])?".prop_map(|text| ObjectName::parse(&text).unwrap())
}

pub(crate) fn revision_key() -> impl Strategy<Value = NamespacedName> {
    (scope(), revision_name()).prop_map(|(scope, name)| NamespacedName::new(Some(&scope), &name))
}

pub(crate) fn notes() -> impl Strategy<Value = Annotations> {
    btree_map("[a-z]{1,8}", ".{0,12}", 0..3).prop_map(|pairs| Annotations::parse(&pairs).unwrap())
}

pub(crate) fn uid() -> impl Strategy<Value = Uid> {
    any::<[u8; 16]>().prop_map(Uid::from_bytes)
}

pub(crate) fn controller() -> impl Strategy<Value = OwnerReference> {
    (revision_name(), uid(), any::<bool>()).prop_map(|(name, uid, block_owner_deletion)| {
        OwnerReference {
            api_version: ApiVersion::parse("apps/v1").unwrap(),
            kind: Kind::parse("StatefulSet").unwrap(),
            name,
            uid,
            controller: true,
            block_owner_deletion,
        }
    })
}

pub(crate) fn number() -> impl Strategy<Value = RevisionNumber> {
    (0..=RevisionNumber::MAX.get()).prop_map(|number| RevisionNumber::new(number).unwrap())
}

pub(crate) fn data() -> impl Strategy<Value = RevisionData> {
    prop_oneof![
        any::<i64>().prop_map(|n| {
            let text = format!("{{\"n\":{n}}}");
            RevisionData::new(MediaType::JSON, Bytes::from(text)).unwrap()
        }),
        vec(any::<u8>(), 1..40).prop_map(|bytes| {
            let media_type = MediaType::parse("application/octet-stream").unwrap();
            RevisionData::new(media_type, Bytes::from(bytes)).unwrap()
        }),
    ]
}

pub(crate) fn marker() -> impl Strategy<Value = Marker> {
    "[a-z0-9-]{1,8}".prop_map(|text| Marker::parse(&text).unwrap())
}

pub(crate) fn controller_revision() -> impl Strategy<Value = ControllerRevision> {
    let marks = (any::<bool>(), any::<bool>(), btree_set(marker(), 0..3));
    let marks = marks.prop_map(|(current, update, in_use)| LiveMarks {
        current,
        update,
        in_use,
    });
    (
        (revision_key(), metadata(), labels(), notes()),
        (option::of(controller()), number(), data(), marks),
    )
        .prop_map(
            |((key, metadata, labels, annotations), (controller, number, data, marks))| {
                ControllerRevision {
                    key,
                    metadata,
                    labels,
                    annotations,
                    controller,
                    number,
                    data,
                    marks,
                }
            },
        )
}
