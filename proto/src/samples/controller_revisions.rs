//! Any legal ControllerRevision, and the parts of requests on one.

use bytes::Bytes;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use synod_model::{
    Annotations, ApiVersion, ControllerRevision, Epoch, GroupResource, Kind, LiveMark, LiveMarks,
    MarkTie, Marker, MediaType, MemberId, Namespace, NamespacedName, ObjectKey, ObjectName,
    OwnerReference, Revision, RevisionData, RevisionNumber, Ttl, Uid,
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

pub(crate) fn mark_tie() -> impl Strategy<Value = MarkTie> {
    let ttl = Ttl::MIN.as_millis()..=Ttl::MAX.as_millis();
    prop_oneof![
        ttl.prop_map(|ttl| MarkTie::Renewals(Ttl::from_millis(ttl).unwrap())),
        (revision_name(), 1..u64::MAX).prop_map(|(name, epoch)| {
            let member = MemberId::parse(name.as_str()).unwrap();
            MarkTie::Member(member, Epoch::new(Revision::new(epoch)))
        }),
        (option::of(scope()), revision_name(), uid()).prop_map(|(scope, name, uid)| {
            let resource = GroupResource::new("apps", "statefulsets").unwrap();
            MarkTie::Object(ObjectKey::new(resource, scope.as_ref(), &name), uid)
        }),
    ]
}

pub(crate) fn controller_revision() -> impl Strategy<Value = ControllerRevision> {
    let mark = prop_oneof![
        Just(LiveMark::Current),
        Just(LiveMark::Update),
        marker().prop_map(LiveMark::InUse),
    ];
    let marks = vec((mark, mark_tie()), 0..4).prop_map(LiveMarks::from_iter);
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
