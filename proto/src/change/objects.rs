use synod_model::{
    ApiVersion, Attributes, ClusterId, Content, CreateObject, DeleteObject, Fences, MetadataPatch,
    ObjectKey, Patch, PatchFormat, PatchObject, Propagation, Ttl, TtlChange, UpdateObject,
    Violation, Violations,
};

use super::collections::preconditions;
use super::renew_lease::{parse_lease_token, wire_lease_token};
use super::{Change, Key, key, parse_speaker};
use crate::fields::{required, sound};
use crate::v1;

impl From<&Change<CreateObject>> for v1::ObjectsCreateRequest {
    fn from(change: &Change<CreateObject>) -> Self {
        let operation = v1::CreateOperation::from(&change.body);
        Self {
            request_id: change.wire_key(),
            key: operation.key,
            attributes: operation.attributes,
            content: operation.content,
            ttl_ms: operation.ttl_ms,
            fences: wire_fences(change, &change.body.fences),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ObjectsCreateRequest> for Change<CreateObject> {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsCreateRequest) -> Result<Self, Violations> {
        let operation = v1::CreateOperation {
            key: pb.key,
            attributes: pb.attributes,
            content: pb.content,
            ttl_ms: pb.ttl_ms,
        };
        let opening = Opening::read(pb.request_id, pb.fences);
        opening.around(CreateObject::try_from(operation), |body| &mut body.fences)
    }
}

impl From<&Change<UpdateObject>> for v1::ObjectsUpdateRequest {
    fn from(change: &Change<UpdateObject>) -> Self {
        let operation = v1::UpdateOperation::from(&change.body);
        Self {
            request_id: change.wire_key(),
            key: operation.key,
            attributes: operation.attributes,
            content: operation.content,
            preconditions: operation.preconditions,
            ttl_ms: operation.ttl_ms,
            remove_ttl: operation.remove_ttl,
            fences: wire_fences(change, &change.body.fences),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ObjectsUpdateRequest> for Change<UpdateObject> {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsUpdateRequest) -> Result<Self, Violations> {
        let operation = v1::UpdateOperation {
            key: pb.key,
            attributes: pb.attributes,
            content: pb.content,
            preconditions: pb.preconditions,
            ttl_ms: pb.ttl_ms,
            remove_ttl: pb.remove_ttl,
        };
        let opening = Opening::read(pb.request_id, pb.fences);
        opening.around(UpdateObject::try_from(operation), |body| &mut body.fences)
    }
}

impl From<&Change<PatchObject>> for v1::ObjectsPatchRequest {
    fn from(change: &Change<PatchObject>) -> Self {
        let operation = v1::PatchOperation::from(&change.body);
        Self {
            request_id: change.wire_key(),
            key: operation.key,
            patch: operation.patch,
            metadata_patch: operation.metadata_patch,
            ttl_ms: operation.ttl_ms,
            remove_ttl: operation.remove_ttl,
            preconditions: operation.preconditions,
            fences: wire_fences(change, &change.body.fences),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ObjectsPatchRequest> for Change<PatchObject> {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsPatchRequest) -> Result<Self, Violations> {
        let operation = v1::PatchOperation {
            key: pb.key,
            patch: pb.patch,
            metadata_patch: pb.metadata_patch,
            ttl_ms: pb.ttl_ms,
            remove_ttl: pb.remove_ttl,
            preconditions: pb.preconditions,
        };
        let opening = Opening::read(pb.request_id, pb.fences);
        opening.around(PatchObject::try_from(operation), |body| &mut body.fences)
    }
}

impl From<&Change<DeleteObject>> for v1::ObjectsDeleteRequest {
    fn from(change: &Change<DeleteObject>) -> Self {
        let operation = v1::DeleteOperation::from(&change.body);
        Self {
            request_id: change.wire_key(),
            key: operation.key,
            preconditions: operation.preconditions,
            propagation: operation.propagation,
            fences: wire_fences(change, &change.body.fences),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ObjectsDeleteRequest> for Change<DeleteObject> {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsDeleteRequest) -> Result<Self, Violations> {
        let operation = v1::DeleteOperation {
            key: pb.key,
            preconditions: pb.preconditions,
            propagation: pb.propagation,
        };
        let opening = Opening::read(pb.request_id, pb.fences);
        opening.around(DeleteObject::try_from(operation), |body| &mut body.fences)
    }
}

/// What every change of objects begins with.
pub(super) struct Opening {
    key: Key,
    fences: Fences,
    epoch_cluster: Option<ClusterId>,
    token_cluster: Option<ClusterId>,
    found: Violations,
}

impl Opening {
    /// Reads the fields `requestId` and `fences`.
    pub(super) fn read(id: Option<v1::RequestId>, fences: Option<v1::Fences>) -> Self {
        let mut found = Violations::new();
        let key = key(id, &mut found);
        let v1::Fences {
            if_member,
            if_lease,
        } = fences.unwrap_or_default();
        let speaker = if_member
            .and_then(|member| found.parsed("fences.ifMember", parse_speaker(Some(member))));
        let named =
            if_lease.and_then(|token| found.parsed("fences.ifLease", parse_lease_token(token)));
        Self {
            key,
            epoch_cluster: speaker.as_ref().and_then(|speaker| speaker.cluster),
            token_cluster: named.as_ref().and_then(|(_, _, cluster)| *cluster),
            fences: Fences {
                if_member: speaker.map(|speaker| (speaker.member, speaker.epoch)),
                if_lease: named.map(|(lease, token, _)| (lease, token)),
            },
            found,
        }
    }

    /// The change with this body, whose fences are these.
    pub(super) fn around<T>(
        mut self,
        body: Result<T, Violations>,
        fences: impl FnOnce(&mut T) -> &mut Fences,
    ) -> Result<Change<T>, Violations> {
        let Some(mut body) = self.found.parsed("", body) else {
            return Err(self.found);
        };
        *fences(&mut body) = self.fences;
        let change = Change {
            key: self.key.id,
            session_cluster: self.key.cluster,
            epoch_cluster: self.epoch_cluster,
            token_cluster: self.token_cluster,
            body,
        };
        sound(change, self.found)
    }
}

/// The fences as they are sent; nothing if there are none.
pub(super) fn wire_fences<T>(change: &Change<T>, fences: &Fences) -> Option<v1::Fences> {
    let Fences {
        if_member,
        if_lease,
    } = fences;
    (*fences != Fences::default()).then(|| v1::Fences {
        if_member: if_member
            .as_ref()
            .and_then(|(member, epoch)| change.wire_member(member, *epoch)),
        if_lease: if_lease
            .as_ref()
            .map(|(lease, token)| wire_lease_token(lease, *token, change.token_cluster)),
    })
}

impl From<&CreateObject> for v1::CreateOperation {
    fn from(create: &CreateObject) -> Self {
        Self {
            key: Some((&create.key).into()),
            attributes: Some((&create.attributes).into()),
            content: Some((&create.content).into()),
            ttl_ms: create.ttl.map(Ttl::as_millis),
        }
    }
}

impl TryFrom<v1::CreateOperation> for CreateObject {
    type Error = Violations;

    fn try_from(pb: v1::CreateOperation) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = object_key(pb.key, &mut found);
        let attributes = attributes(pb.attributes, &mut found);
        let content = content(pb.content, &mut found);
        let ttl = ttl(pb.ttl_ms, &mut found);
        match (key, attributes, content, ttl) {
            (Some(key), Some(attributes), Some(content), Some(ttl)) => Ok(Self {
                key,
                attributes,
                content,
                ttl,
                fences: Fences::default(),
            }),
            _ => Err(found),
        }
    }
}

impl From<&UpdateObject> for v1::UpdateOperation {
    fn from(update: &UpdateObject) -> Self {
        Self {
            key: Some((&update.key).into()),
            attributes: Some((&update.attributes).into()),
            content: Some((&update.content).into()),
            preconditions: Some((&update.preconditions).into()),
            ttl_ms: update.ttl.of_new().map(Ttl::as_millis),
            remove_ttl: update.ttl == TtlChange::Remove,
        }
    }
}

impl TryFrom<v1::UpdateOperation> for UpdateObject {
    type Error = Violations;

    fn try_from(pb: v1::UpdateOperation) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = object_key(pb.key, &mut found);
        let attributes = attributes(pb.attributes, &mut found);
        let content = content(pb.content, &mut found);
        let preconditions = preconditions(pb.preconditions, &mut found);
        let ttl = ttl_change(pb.ttl_ms, pb.remove_ttl, &mut found);
        match (key, attributes, content, preconditions, ttl) {
            (Some(key), Some(attributes), Some(content), Some(preconditions), Some(ttl)) => {
                Ok(Self {
                    key,
                    attributes,
                    content,
                    ttl,
                    preconditions,
                    fences: Fences::default(),
                })
            }
            _ => Err(found),
        }
    }
}

impl From<&PatchObject> for v1::PatchOperation {
    fn from(patch: &PatchObject) -> Self {
        Self {
            key: Some((&patch.key).into()),
            patch: patch.data.as_ref().map(Into::into),
            metadata_patch: patch.metadata.as_ref().map(Into::into),
            ttl_ms: patch.ttl.of_new().map(Ttl::as_millis),
            remove_ttl: patch.ttl == TtlChange::Remove,
            preconditions: Some((&patch.preconditions).into()),
        }
    }
}

impl TryFrom<v1::PatchOperation> for PatchObject {
    type Error = Violations;

    fn try_from(pb: v1::PatchOperation) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = object_key(pb.key, &mut found);
        let data = found.parsed("patch", pb.patch.map(Patch::try_from).transpose());
        let metadata = pb.metadata_patch.map(MetadataPatch::try_from);
        let metadata = found.parsed("metadataPatch", metadata.transpose());
        let ttl = ttl_change(pb.ttl_ms, pb.remove_ttl, &mut found);
        let preconditions = preconditions(pb.preconditions, &mut found);
        let (Some(key), Some(data), Some(metadata), Some(ttl), Some(preconditions)) =
            (key, data, metadata, ttl, preconditions)
        else {
            return Err(found);
        };
        let body = Self {
            key,
            data,
            metadata,
            ttl,
            preconditions,
            fences: Fences::default(),
        };
        // What its parts cannot see: whether it changes anything, and how long its documents are.
        found.extend_at("", body.check());
        sound(body, found)
    }
}

impl From<&Patch> for v1::ContentPatch {
    fn from(patch: &Patch) -> Self {
        Self {
            encoding_version: patch.encoding.to_string(),
            format: wire_format(patch.format),
            document: patch.document.clone(),
        }
    }
}

impl TryFrom<v1::ContentPatch> for Patch {
    type Error = Violations;

    fn try_from(pb: v1::ContentPatch) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let encoding = found.parsed("encodingVersion", ApiVersion::parse(&pb.encoding_version));
        let format = found.parsed("format", format(pb.format()));
        match (encoding, format) {
            (Some(encoding), Some(format)) => Ok(Self {
                encoding,
                format,
                document: pb.document,
            }),
            _ => Err(found),
        }
    }
}

impl From<&MetadataPatch> for v1::MetadataPatch {
    fn from(patch: &MetadataPatch) -> Self {
        Self {
            format: wire_format(patch.format),
            document: patch.document.clone(),
        }
    }
}

impl TryFrom<v1::MetadataPatch> for MetadataPatch {
    type Error = Violation;

    fn try_from(pb: v1::MetadataPatch) -> Result<Self, Violation> {
        Ok(Self {
            format: format(pb.format()).map_err(|fault| fault.at("format"))?,
            document: pb.document,
        })
    }
}

fn wire_format(format: PatchFormat) -> i32 {
    let format = match format {
        PatchFormat::Merge => v1::PatchFormat::Merge,
        PatchFormat::Json => v1::PatchFormat::Json,
    };
    format.into()
}

fn format(format: v1::PatchFormat) -> Result<PatchFormat, Violation> {
    match format {
        v1::PatchFormat::Merge => Ok(PatchFormat::Merge),
        v1::PatchFormat::Json => Ok(PatchFormat::Json),
        v1::PatchFormat::Unspecified => Err(Violation::required(
            "must be a JSON merge patch or a JSON patch",
        )),
    }
}

impl From<&DeleteObject> for v1::DeleteOperation {
    fn from(delete: &DeleteObject) -> Self {
        let propagation = match delete.propagation {
            None => v1::Propagation::Unspecified,
            Some(Propagation::Background) => v1::Propagation::Background,
            Some(Propagation::Foreground) => v1::Propagation::Foreground,
            Some(Propagation::Orphan) => v1::Propagation::Orphan,
        };
        Self {
            key: Some((&delete.key).into()),
            preconditions: Some((&delete.preconditions).into()),
            propagation: propagation.into(),
        }
    }
}

impl TryFrom<v1::DeleteOperation> for DeleteObject {
    type Error = Violations;

    fn try_from(pb: v1::DeleteOperation) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = object_key(pb.key.clone(), &mut found);
        let propagation = found.parsed("propagation", propagation(pb.propagation));
        let preconditions = preconditions(pb.preconditions, &mut found);
        match (key, propagation, preconditions) {
            (Some(key), Some(propagation), Some(preconditions)) => Ok(Self {
                key,
                propagation,
                preconditions,
                fences: Fences::default(),
            }),
            _ => Err(found),
        }
    }
}

/// A number that is not known must not be taken for the default: what goes is gone.
fn propagation(number: i32) -> Result<Option<Propagation>, Violation> {
    match v1::Propagation::try_from(number) {
        Ok(v1::Propagation::Unspecified) => Ok(None),
        Ok(v1::Propagation::Background) => Ok(Some(Propagation::Background)),
        Ok(v1::Propagation::Foreground) => Ok(Some(Propagation::Foreground)),
        Ok(v1::Propagation::Orphan) => Ok(Some(Propagation::Orphan)),
        Err(_) => Err(Violation::invalid(
            &number.to_string(),
            "must be background, foreground or orphan",
        )),
    }
}

/// Reads the field `key`.
fn object_key(pb: Option<v1::ObjectKey>, found: &mut Violations) -> Option<ObjectKey> {
    let key = required(pb, "must name an object")
        .map_err(Violations::from)
        .and_then(ObjectKey::try_from);
    found.parsed("key", key)
}

/// Reads the field `attributes`.
fn attributes(pb: Option<v1::ObjectAttributes>, found: &mut Violations) -> Option<Attributes> {
    found.parsed("attributes", Attributes::try_from(pb.unwrap_or_default()))
}

/// Reads the field `content`.
fn content(pb: Option<v1::ObjectContent>, found: &mut Violations) -> Option<Content> {
    let content = required(pb, "must say what to store").map_err(Violations::from);
    found.parsed("content", content.and_then(Content::try_from))
}

/// Reads the field `ttlMs`.
fn ttl(ms: Option<u64>, found: &mut Violations) -> Option<Option<Ttl>> {
    found.parsed("ttlMs", ms.map(Ttl::from_millis).transpose())
}

/// Reads the fields `ttlMs` and `removeTtl`.
fn ttl_change(ms: Option<u64>, remove: bool, found: &mut Violations) -> Option<TtlChange> {
    let ttl = ttl(ms, found)?;
    if ttl.is_some() && remove {
        let rule = "must not stand beside ttlMs: the deadline is moved or taken away";
        found.push(Violation::invalid("true", rule).at("removeTtl"));
        return None;
    }
    Some(if remove {
        TtlChange::Remove
    } else {
        ttl.into()
    })
}
