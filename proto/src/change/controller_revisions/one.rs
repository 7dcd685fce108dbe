//! Changes of one snapshot, or of all that an owner has.

use bytes::Bytes;
use synod_model::{
    Annotations, DeleteControllerRevisions, Labels, Namespace, NamespacedName, ObjectName,
    Preconditions, ReleaseControllerRevision, Revision, RevisionNumber, Uid,
    UpdateControllerRevision, Violations,
};

use super::super::{Change, key};
use super::data::data;
use super::history::change;
use crate::convert::{annotations_to_wire, labels_to_wire};
use crate::fields::sound;
use crate::v1;

impl From<&Change<UpdateControllerRevision>> for v1::ControllerRevisionsUpdateRequest {
    fn from(change: &Change<UpdateControllerRevision>) -> Self {
        let update = &change.body;
        let (namespace, name) = names(&update.key);
        let (if_uid, if_resource_version) = wire_preconditions(&update.preconditions);
        let (media_type, data) = match &update.data {
            Some(data) => (data.media_type().to_string(), data.bytes().clone()),
            None => (String::new(), Bytes::new()),
        };
        Self {
            request_id: change.wire_key(),
            namespace,
            name,
            if_uid,
            if_resource_version,
            revision: update.number.map(RevisionNumber::get),
            labels: update.labels.as_ref().map(|labels| v1::LabelMap {
                items: labels_to_wire(labels),
            }),
            annotations: update.annotations.as_ref().map(|annotations| v1::LabelMap {
                items: annotations_to_wire(annotations),
            }),
            data,
            media_type,
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ControllerRevisionsUpdateRequest> for Change<UpdateControllerRevision> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsUpdateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let named = named(&pb.namespace, &pb.name, &mut found);
        let preconditions = preconditions(&pb.if_uid, pb.if_resource_version, &mut found);
        let number = pb.revision.map(RevisionNumber::new).transpose();
        let number = found.parsed("revision", number);
        let labels = pb.labels.map(|map| Labels::parse(&map.items)).transpose();
        let labels = found.parsed("labels.items", labels);
        let annotations = pb.annotations.map(|map| Annotations::parse(&map.items));
        let annotations = found.parsed("annotations.items", annotations.transpose());
        let given = (!pb.data.is_empty()).then(|| data(&pb.media_type, pb.data));
        let data = found.parsed("data", given.transpose());
        let (Some(named), Some(preconditions)) = (named, preconditions) else {
            return Err(found);
        };
        let (Some(number), Some(labels), Some(annotations), Some(data)) =
            (number, labels, annotations, data)
        else {
            return Err(found);
        };
        let body = UpdateControllerRevision {
            key: named,
            preconditions,
            number,
            labels,
            annotations,
            data,
        };
        found.extend_at("", body.check());
        sound(change(&key, body), found)
    }
}

/// One snapshot goes, or the whole history: each has its call, and this is what the two have in common.
impl From<&Change<DeleteControllerRevisions>> for v1::ControllerRevisionsDeleteRequest {
    fn from(change: &Change<DeleteControllerRevisions>) -> Self {
        let request_id = change.wire_key();
        match &change.body {
            DeleteControllerRevisions::One { key, preconditions } => {
                let (namespace, name) = names(key);
                let (if_uid, if_resource_version) = wire_preconditions(preconditions);
                Self {
                    request_id,
                    namespace,
                    name,
                    if_uid,
                    if_resource_version,
                    dry_run: false,
                }
            }
            DeleteControllerRevisions::HistoryOf { namespace, .. } => Self {
                request_id,
                namespace: namespace.to_string(),
                ..Self::default()
            },
        }
    }
}

impl TryFrom<v1::ControllerRevisionsDeleteRequest> for Change<DeleteControllerRevisions> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsDeleteRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let named = named(&pb.namespace, &pb.name, &mut found);
        let preconditions = preconditions(&pb.if_uid, pb.if_resource_version, &mut found);
        let (Some(named), Some(preconditions)) = (named, preconditions) else {
            return Err(found);
        };
        let body = DeleteControllerRevisions::One {
            key: named,
            preconditions,
        };
        sound(change(&key, body), found)
    }
}

impl From<&Change<DeleteControllerRevisions>> for v1::ControllerRevisionsDeleteHistoryRequest {
    fn from(change: &Change<DeleteControllerRevisions>) -> Self {
        let (namespace, owner_uid) = match &change.body {
            DeleteControllerRevisions::HistoryOf { namespace, owner } => {
                (namespace.to_string(), owner.to_string())
            }
            DeleteControllerRevisions::One { key, .. } => (names(key).0, String::new()),
        };
        Self {
            request_id: change.wire_key(),
            namespace,
            owner_uid,
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ControllerRevisionsDeleteHistoryRequest> for Change<DeleteControllerRevisions> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsDeleteHistoryRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let namespace = found.parsed("namespace", Namespace::parse(&pb.namespace));
        let owner = found.parsed("ownerUid", Uid::parse(&pb.owner_uid));
        let (Some(namespace), Some(owner)) = (namespace, owner) else {
            return Err(found);
        };
        let body = DeleteControllerRevisions::HistoryOf { namespace, owner };
        sound(change(&key, body), found)
    }
}

impl From<&Change<ReleaseControllerRevision>> for v1::ControllerRevisionsReleaseRequest {
    fn from(change: &Change<ReleaseControllerRevision>) -> Self {
        let release = &change.body;
        let (namespace, name) = names(&release.key);
        let (if_uid, if_resource_version) = wire_preconditions(&release.preconditions);
        Self {
            request_id: change.wire_key(),
            namespace,
            name,
            owner_uid: release.owner.to_string(),
            if_uid,
            if_resource_version,
        }
    }
}

impl TryFrom<v1::ControllerRevisionsReleaseRequest> for Change<ReleaseControllerRevision> {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevisionsReleaseRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let named = named(&pb.namespace, &pb.name, &mut found);
        let owner = found.parsed("ownerUid", Uid::parse(&pb.owner_uid));
        let preconditions = preconditions(&pb.if_uid, pb.if_resource_version, &mut found);
        let (Some(named), Some(owner), Some(preconditions)) = (named, owner, preconditions) else {
            return Err(found);
        };
        let body = ReleaseControllerRevision {
            key: named,
            owner,
            preconditions,
        };
        sound(change(&key, body), found)
    }
}

/// The name in two fields.
pub(crate) fn named(namespace: &str, name: &str, found: &mut Violations) -> Option<NamespacedName> {
    let namespace = found.parsed("namespace", Namespace::parse(namespace));
    let name = found.parsed("name", ObjectName::parse(name));
    Some(NamespacedName::new(Some(&namespace?), &name?))
}

/// A name as two fields.
pub(crate) fn names(key: &NamespacedName) -> (String, String) {
    let namespace = key.namespace().unwrap_or_default();
    (namespace.to_owned(), key.name().to_owned())
}

fn preconditions(
    uid: &str,
    resource_version: Option<u64>,
    found: &mut Violations,
) -> Option<Preconditions> {
    let uid = (!uid.is_empty()).then(|| Uid::parse(uid)).transpose();
    let uid = found.parsed("ifUid", uid);
    let preconditions = Preconditions {
        uid: uid?,
        resource_version: resource_version.map(Revision::new),
    };
    found.extend_at("", preconditions.check());
    Some(preconditions)
}

fn wire_preconditions(preconditions: &Preconditions) -> (String, Option<u64>) {
    let uid = preconditions.uid.map(|uid| uid.to_string());
    (
        uid.unwrap_or_default(),
        preconditions.resource_version.map(Revision::get),
    )
}
