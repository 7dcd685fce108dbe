//! One of each command on ControllerRevisions, so that applying them in order leaves snapshots of every kind.

use std::collections::BTreeSet;

use crate::Command;
use bytes::Bytes;
use synod_model::{
    AdoptControllerRevisions, Annotations, ApiVersion, ControllerHistory, CreateControllerRevision,
    DeleteControllerRevisions, Epoch, Equality, GroupResource, InUse, Kind, Labels, LiveMark, Mark,
    MarkControllerRevisions, MarkTie, Marker, MediaType, MemberId, NamePrefix, Namespace,
    NamespacedName, ObjectKey, ObjectName, OwnerReference, Preconditions,
    ReleaseControllerRevision, Revision, RevisionData, RevisionHash, RevisionNumber,
    RollbackControllerRevision, RollbackTarget, TruncateControllerRevisions, Uid,
    UpdateControllerRevision,
};

fn namespace() -> Namespace {
    Namespace::parse("default").unwrap()
}

fn history() -> ControllerHistory {
    ControllerHistory {
        namespace: namespace(),
        owner: OwnerReference {
            api_version: ApiVersion::parse("apps/v1").unwrap(),
            kind: Kind::parse("StatefulSet").unwrap(),
            name: ObjectName::parse("web").unwrap(),
            uid: Uid::from_bytes([3; 16]),
            controller: true,
            block_owner_deletion: true,
        },
        selector: Labels::parse([("app", "web")]).unwrap(),
    }
}

fn data(text: &'static str) -> RevisionData {
    RevisionData::new(MediaType::JSON, Bytes::from_static(text.as_bytes())).unwrap()
}

/// The name that snapshots of the data get.
fn name(text: &'static str) -> ObjectName {
    let hash = RevisionHash::of(&data(text)).with_collisions(0);
    ObjectName::parse(&format!("web-{hash}")).unwrap()
}

fn key(text: &'static str) -> NamespacedName {
    NamespacedName::new(Some(&namespace()), &name(text))
}

fn create(text: &'static str, equality: Equality) -> Command {
    create_in(None, text, equality)
}

fn create_in(version: Option<&str>, text: &'static str, equality: Equality) -> Command {
    let version = version.map(|version| ApiVersion::parse(version).unwrap());
    Command::CreateControllerRevision(CreateControllerRevision {
        history: history(),
        data: data(text).in_version(version),
        equality,
        prefix: NamePrefix::parse("web").unwrap(),
        labels: Labels::parse([("app", "web")]).unwrap(),
        annotations: Annotations::parse([("example.io/why", "a\nb")]).unwrap(),
        number: Some(RevisionNumber::new(4).unwrap()),
        collision_count: 0,
        history_limit: 10,
        if_newest: None,
        mark_update: Some(MarkTie::DEFAULT),
        name: None,
    })
}

fn rollback(to: RollbackTarget) -> Command {
    Command::RollbackControllerRevision(RollbackControllerRevision {
        history: history(),
        to,
        if_newest: Some(Revision::new(77)),
    })
}

fn object() -> ObjectKey {
    let resource = GroupResource::new("apps", "statefulsets").unwrap();
    ObjectKey::new(
        resource,
        Some(&namespace()),
        &ObjectName::parse("web").unwrap(),
    )
}

/// The member whose epoch is 4.
fn member() -> MarkTie {
    let member = MemberId::parse("a").unwrap();
    MarkTie::Member(member, Epoch::new(Revision::new(4)))
}

/// A command that sets marks, with one user of the first snapshot.
fn mark(current: Option<Mark>, update: Option<Mark>, tie: MarkTie) -> Command {
    Command::MarkControllerRevisions(MarkControllerRevisions {
        history: history(),
        current,
        update,
        in_use: Some(InUse {
            marker: Marker::parse("web-0").unwrap(),
            names: [name("{\"a\":1}")].into(),
        }),
        tie,
    })
}

/// One mark of each kind.
pub(super) fn every_mark() -> BTreeSet<(NamespacedName, LiveMark)> {
    let used = LiveMark::InUse(Marker::parse("web-0").unwrap());
    let marks = [LiveMark::Current, LiveMark::Update, used];
    marks.map(|mark| (key("{\"a\":9}"), mark)).into()
}

pub(super) fn every_command() -> Vec<Command> {
    let preconditions = Preconditions {
        uid: Some(Uid::from_bytes([4; 16])),
        resource_version: Some(Revision::new(5)),
    };
    vec![
        create("{\"a\":1}", Equality::Json),
        create("{\"a\":2}", Equality::Bytes),
        create("{\"a\":3}", Equality::JsonIgnoringEmpty),
        // States the version of data that is already there.
        create_in(Some("apps/v1"), "{\"a\":3}", Equality::Json),
        Command::UpdateControllerRevision(UpdateControllerRevision {
            key: key("{\"a\":1}"),
            preconditions: Preconditions::default(),
            number: Some(RevisionNumber::new(9).unwrap()),
            labels: Some(history().selector),
            annotations: Some(Annotations::default()),
            data: Some(data("{\"a\":1}")),
        }),
        rollback(RollbackTarget::Previous),
        rollback(RollbackTarget::Number(RevisionNumber::FIRST)),
        rollback(RollbackTarget::Name(name("{\"a\":2}"))),
        mark(
            Some(Mark::On(name("{\"a\":2}"))),
            Some(Mark::Nowhere),
            MarkTie::Object(object(), Uid::from_bytes([8; 16])),
        ),
        mark(
            Some(Mark::On(name("{\"a\":2}"))),
            Some(Mark::Nowhere),
            member(),
        ),
        mark(None, Some(Mark::On(name("{\"a\":1}"))), MarkTie::DEFAULT),
        Command::TruncateControllerRevisions(TruncateControllerRevisions {
            history: history(),
            limit: 0,
            if_newest: None,
        }),
        Command::DeleteControllerRevisions(DeleteControllerRevisions::One {
            key: key("{\"a\":2}"),
            preconditions,
        }),
        Command::DeleteControllerRevisions(DeleteControllerRevisions::HistoryOf {
            namespace: namespace(),
            owner: Uid::from_bytes([9; 16]),
        }),
        Command::ReleaseControllerRevision(ReleaseControllerRevision {
            key: key("{\"a\":2}"),
            owner: Uid::from_bytes([3; 16]),
            preconditions: Preconditions::default(),
        }),
        Command::AdoptControllerRevisions(AdoptControllerRevisions {
            history: history(),
            name: Some(name("{\"a\":4}")),
        }),
        Command::AdoptControllerRevisions(AdoptControllerRevisions {
            history: history(),
            name: None,
        }),
    ]
}
