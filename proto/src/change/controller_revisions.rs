//! The changing requests on ControllerRevisions.

mod create;

use bytes::Bytes;
use synod_model::limits::HISTORY_LIMIT_DEFAULT;
use synod_model::{
    AdoptControllerRevisions, Annotations, ControllerHistory, DeleteControllerRevisions, InUse,
    Labels, Mark, MarkControllerRevisions, Namespace, ObjectName, OwnerReference, Preconditions,
    ReleaseControllerRevision, Revision, RevisionNumber, RollbackControllerRevision,
    RollbackTarget, TruncateControllerRevisions, Uid, UpdateControllerRevision, Violations,
};

use super::{Change, requests};
use crate::convert::{named, names, wanted_data};
use crate::wire::{Wire, required, sound};
use crate::{messages, read_fields, v1};

requests! {
    v1::ControllerRevisionsRollbackRequest = RollbackControllerRevision;
    v1::ControllerRevisionsMarkLiveRequest = MarkControllerRevisions, tie tie;
    v1::ControllerRevisionsTruncateRequest = TruncateControllerRevisions;
    v1::ControllerRevisionsAdoptRequest = AdoptControllerRevisions;
    v1::ControllerRevisionsUpdateRequest = UpdateControllerRevision;
    v1::ControllerRevisionsReleaseRequest = ReleaseControllerRevision;
}

messages! {
    v1::ControllerRevisionsMarkLiveRequest = MarkControllerRevisions {
        history = history,
        current = current,
        update = update,
        in_use = in_use,
        tie = tie,
        ; ..Default::default()
    } => check
    v1::InUse = InUse {
        marker = marker,
        names = names,
    }
    v1::ControllerRevisionsTruncateRequest = TruncateControllerRevisions {
        history = history,
        limit = limit or HISTORY_LIMIT_DEFAULT,
        if_newest = if_newest,
        ; ..Default::default()
    } => check
    v1::ControllerRevisionsAdoptRequest = AdoptControllerRevisions {
        history = history,
        name = name,
        ; ..Default::default()
    } => check
}

impl Wire<Option<v1::ControllerHistory>> for ControllerHistory {
    fn to_wire(&self) -> Option<v1::ControllerHistory> {
        Some(v1::ControllerHistory {
            namespace: self.namespace.to_wire(),
            owner: self.owner.to_wire(),
            selector: self.selector.to_wire(),
        })
    }

    /// The owner of a history is always its controller, whatever the message says.
    fn of_wire(pb: Option<v1::ControllerHistory>) -> Result<Self, Violations> {
        let pb = required(pb, "must name a history")?;
        let mut found = Violations::new();
        read_fields! { pb, found;
            namespace = namespace,
            owner = owner => OwnerReference::of_wire(pb.owner),
            selector = selector,
        }
        let owner = OwnerReference {
            controller: true,
            ..owner
        };
        Ok(Self {
            namespace,
            owner,
            selector,
        })
    }
}

/// An empty text is [`Mark::Nowhere`].
impl Wire<String> for Mark {
    fn to_wire(&self) -> String {
        match self {
            Self::Nowhere => String::new(),
            Self::On(name) => name.to_wire(),
        }
    }

    fn of_wire(pb: String) -> Result<Self, Violations> {
        let name: Option<ObjectName> = Wire::of_wire(pb)?;
        Ok(name.map_or(Self::Nowhere, Self::On))
    }
}

impl Wire<v1::ControllerRevisionsRollbackRequest> for RollbackControllerRevision {
    fn to_wire(&self) -> v1::ControllerRevisionsRollbackRequest {
        use v1::controller_revisions_rollback_request::To;
        v1::ControllerRevisionsRollbackRequest {
            history: self.history.to_wire(),
            to: match &self.to {
                RollbackTarget::Previous => None,
                RollbackTarget::Number(number) => Some(To::Revision(number.to_wire())),
                RollbackTarget::Name(name) => Some(To::Name(name.to_wire())),
            },
            if_newest: self.if_newest.to_wire(),
            ..Default::default()
        }
    }

    fn of_wire(pb: v1::ControllerRevisionsRollbackRequest) -> Result<Self, Violations> {
        use v1::controller_revisions_rollback_request::To;
        let mut found = Violations::new();
        let to = match pb.to {
            None => Some(RollbackTarget::Previous),
            Some(To::Revision(number)) => found
                .parsed("revision", RevisionNumber::of_wire(number))
                .map(RollbackTarget::Number),
            Some(To::Name(name)) => found
                .parsed("name", ObjectName::of_wire(name))
                .map(RollbackTarget::Name),
        };
        read_fields! { pb, found; history = history, if_newest = if_newest }
        let Some(to) = to else {
            return Err(found);
        };
        Ok(Self {
            history,
            to,
            if_newest,
        })
    }
}

impl Wire<v1::LabelMap> for Labels {
    fn to_wire(&self) -> v1::LabelMap {
        v1::LabelMap {
            items: self.to_wire(),
        }
    }

    fn of_wire(pb: v1::LabelMap) -> Result<Self, Violations> {
        Self::of_wire(pb.items).map_err(|faults| faults.at("items"))
    }
}

impl Wire<v1::LabelMap> for Annotations {
    fn to_wire(&self) -> v1::LabelMap {
        v1::LabelMap {
            items: self.to_wire(),
        }
    }

    fn of_wire(pb: v1::LabelMap) -> Result<Self, Violations> {
        Self::of_wire(pb.items).map_err(|faults| faults.at("items"))
    }
}

impl Wire<v1::ControllerRevisionsUpdateRequest> for UpdateControllerRevision {
    fn to_wire(&self) -> v1::ControllerRevisionsUpdateRequest {
        let (namespace, name) = names(&self.key);
        let (media_type, data) = match &self.data {
            Some(data) => (data.media_type().to_string(), data.bytes().clone()),
            None => (String::new(), Bytes::new()),
        };
        v1::ControllerRevisionsUpdateRequest {
            namespace,
            name,
            if_uid: self.preconditions.uid.to_wire(),
            if_resource_version: self.preconditions.resource_version.to_wire(),
            revision: self.number.to_wire(),
            labels: self.labels.to_wire(),
            annotations: self.annotations.to_wire(),
            data,
            media_type,
            ..Default::default()
        }
    }

    fn of_wire(pb: v1::ControllerRevisionsUpdateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = found.parsed("", named(&pb.namespace, &pb.name));
        let preconditions = preconditions(pb.if_uid, pb.if_resource_version);
        let preconditions = found.parsed("", preconditions);
        let given = (!pb.data.is_empty()).then(|| wanted_data(pb.media_type, pb.data));
        let data = found.parsed("data", given.transpose());
        read_fields! { pb, found;
            number = revision,
            labels = labels,
            annotations = annotations,
        }
        let (Some(key), Some(preconditions), Some(data)) = (key, preconditions, data) else {
            return Err(found);
        };
        let body = Self {
            key,
            preconditions,
            number,
            labels,
            annotations,
            data,
        };
        found.extend_at("", body.check());
        sound(body, found)
    }
}

impl Wire<v1::ControllerRevisionsReleaseRequest> for ReleaseControllerRevision {
    fn to_wire(&self) -> v1::ControllerRevisionsReleaseRequest {
        let (namespace, name) = names(&self.key);
        v1::ControllerRevisionsReleaseRequest {
            namespace,
            name,
            owner_uid: self.owner.to_wire(),
            if_uid: self.preconditions.uid.to_wire(),
            if_resource_version: self.preconditions.resource_version.to_wire(),
            ..Default::default()
        }
    }

    fn of_wire(pb: v1::ControllerRevisionsReleaseRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = found.parsed("", named(&pb.namespace, &pb.name));
        let preconditions = preconditions(pb.if_uid, pb.if_resource_version);
        let preconditions = found.parsed("", preconditions);
        read_fields! { pb, found; owner = owner_uid }
        let (Some(key), Some(preconditions)) = (key, preconditions) else {
            return Err(found);
        };
        Ok(Self {
            key,
            owner,
            preconditions,
        })
    }
}

/// Reads the preconditions on a snapshot from two fields.
fn preconditions(
    if_uid: String,
    if_resource_version: Option<u64>,
) -> Result<Preconditions, Violations> {
    let uid = Wire::of_wire(if_uid).map_err(|faults: Violations| faults.at("ifUid"))?;
    let preconditions = Preconditions {
        uid,
        resource_version: if_resource_version.map(Revision::new),
    };
    sound(preconditions, preconditions.check())
}

/// One snapshot and a whole history have calls of their own. As the message of the other call, a request has only the
/// fields that both calls have.
impl From<&Change<DeleteControllerRevisions>> for v1::ControllerRevisionsDeleteRequest {
    fn from(change: &Change<DeleteControllerRevisions>) -> Self {
        let request_id = change.wire_key();
        match &change.body {
            DeleteControllerRevisions::One { key, preconditions } => {
                let (namespace, name) = names(key);
                Self {
                    request_id,
                    namespace,
                    name,
                    if_uid: preconditions.uid.to_wire(),
                    if_resource_version: preconditions.resource_version.to_wire(),
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
        let key = super::key(pb.request_id, &mut found);
        let named = found.parsed("", named(&pb.namespace, &pb.name));
        let preconditions = preconditions(pb.if_uid, pb.if_resource_version);
        let preconditions = found.parsed("", preconditions);
        let (Some(named), Some(preconditions)) = (named, preconditions) else {
            return Err(found);
        };
        let body = DeleteControllerRevisions::One {
            key: named,
            preconditions,
        };
        sound(Self::of(key, body), found)
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
        let key = super::key(pb.request_id, &mut found);
        read_fields! { pb, found;
            namespace = namespace => Namespace::of_wire(pb.namespace),
            owner = owner_uid => Uid::of_wire(pb.owner_uid),
        }
        let body = DeleteControllerRevisions::HistoryOf { namespace, owner };
        sound(Self::of(key, body), found)
    }
}
