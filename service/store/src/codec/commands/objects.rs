//! The commands of collections and objects.

use bytes::Bytes;
use synod_machine::Command;
use synod_model::{
    Compare, CreateCollection, CreateObject, DeleteCollection, DeleteObject, Fences, MetadataPatch,
    Operation, Patch, PatchFormat, PatchObject, Preconditions, Propagation, Revision, Transact,
    Ttl, TtlChange, UpdateCollection, UpdateObject,
};
use synod_proto::storage::v1 as pb;
use synod_proto::storage::v1::envelope::Command as Pb;

use super::super::CodecError;
use super::super::leases::{lease_token_from_pb, lease_token_to_pb};
use super::super::objects::{
    attributes_from_pb, attributes_to_pb, content_from_pb, content_to_pb, key_from_pb, key_to_pb,
    rules_from_pb, rules_to_pb,
};
use super::super::values::{
    kind, optional_version, required, resource_from_pb, resource_to_pb, text, ttl, uid, version,
};
use super::{Result, who, who_from_pb};

pub(super) fn create_collection_to_pb(create: &CreateCollection) -> Pb {
    Pb::CreateCollection(pb::CreateCollection {
        resource: Some(resource_to_pb(&create.resource)),
        kind: create.kind.to_string(),
        namespaced: create.namespaced,
        rules: Some(rules_to_pb(create.rules)),
    })
}

pub(super) fn create_collection_from_pb(create: pb::CreateCollection) -> Result<Command> {
    Ok(Command::CreateCollection(CreateCollection {
        resource: resource_from_pb(create.resource)?,
        kind: kind(&create.kind)?,
        namespaced: create.namespaced,
        rules: rules_from_pb(create.rules)?,
    }))
}

pub(super) fn update_collection_to_pb(update: &UpdateCollection) -> Pb {
    Pb::UpdateCollection(pb::UpdateCollection {
        resource: Some(resource_to_pb(&update.resource)),
        strict_storage_version: update.strict_storage_version,
        create_on_update: update.create_on_update,
        unconditional_update: update.unconditional_update,
        preconditions: preconditions_to_pb(&update.preconditions),
    })
}

pub(super) fn update_collection_from_pb(update: pb::UpdateCollection) -> Result<Command> {
    Ok(Command::UpdateCollection(UpdateCollection {
        resource: resource_from_pb(update.resource)?,
        strict_storage_version: update.strict_storage_version,
        create_on_update: update.create_on_update,
        unconditional_update: update.unconditional_update,
        preconditions: preconditions_from_pb(update.preconditions)?,
    }))
}

pub(super) fn delete_collection_to_pb(delete: &DeleteCollection) -> Pb {
    Pb::DeleteCollection(pb::DeleteCollection {
        resource: Some(resource_to_pb(&delete.resource)),
        preconditions: preconditions_to_pb(&delete.preconditions),
    })
}

pub(super) fn delete_collection_from_pb(delete: pb::DeleteCollection) -> Result<Command> {
    Ok(Command::DeleteCollection(DeleteCollection {
        resource: resource_from_pb(delete.resource)?,
        preconditions: preconditions_from_pb(delete.preconditions)?,
    }))
}

pub(super) fn create_to_pb(create: &CreateObject) -> pb::CreateObject {
    pb::CreateObject {
        key: Some(key_to_pb(&create.key)),
        attributes: Some(attributes_to_pb(&create.attributes)),
        content: Some(content_to_pb(&create.content)),
        ttl_ms: create.ttl.map(Ttl::as_millis),
        fences: fences_to_pb(&create.fences),
    }
}

pub(super) fn create_from_pb(create: pb::CreateObject) -> Result<CreateObject> {
    Ok(CreateObject {
        key: key_from_pb(create.key)?,
        attributes: attributes_from_pb(create.attributes)?,
        content: content_from_pb(create.content)?,
        ttl: create.ttl_ms.map(ttl).transpose()?,
        fences: fences_from_pb(create.fences)?,
    })
}

pub(super) fn update_to_pb(update: &UpdateObject) -> pb::UpdateObject {
    pb::UpdateObject {
        key: Some(key_to_pb(&update.key)),
        attributes: Some(attributes_to_pb(&update.attributes)),
        content: Some(content_to_pb(&update.content)),
        ttl_ms: update.ttl.of_new().map(Ttl::as_millis),
        preconditions: preconditions_to_pb(&update.preconditions),
        fences: fences_to_pb(&update.fences),
        remove_ttl: update.ttl == TtlChange::Remove,
    }
}

pub(super) fn update_from_pb(update: pb::UpdateObject) -> Result<UpdateObject> {
    Ok(UpdateObject {
        key: key_from_pb(update.key)?,
        attributes: attributes_from_pb(update.attributes)?,
        content: content_from_pb(update.content)?,
        ttl: ttl_change(update.ttl_ms, update.remove_ttl)?,
        preconditions: preconditions_from_pb(update.preconditions)?,
        fences: fences_from_pb(update.fences)?,
    })
}

pub(super) fn patch_to_pb(request: &PatchObject) -> pb::PatchObject {
    let data = request.data.as_ref();
    pb::PatchObject {
        key: Some(key_to_pb(&request.key)),
        encoding: data.map(|patch| patch.encoding.to_string()),
        format: data.map_or(pb::PatchFormat::Unspecified.into(), |patch| {
            format_to_pb(patch.format)
        }),
        document: data.map_or_else(Bytes::new, |patch| patch.document.clone()),
        preconditions: preconditions_to_pb(&request.preconditions),
        fences: fences_to_pb(&request.fences),
        metadata: request.metadata.as_ref().map(|patch| pb::MetadataPatch {
            format: format_to_pb(patch.format),
            document: patch.document.clone(),
        }),
        ttl_ms: request.ttl.of_new().map(Ttl::as_millis),
        remove_ttl: request.ttl == TtlChange::Remove,
    }
}

pub(super) fn patch_from_pb(request: pb::PatchObject) -> Result<PatchObject> {
    let data = match &request.encoding {
        Some(encoding) => Some(Patch {
            encoding: version("encoding", encoding)?,
            format: format_from_pb(request.format())?,
            document: request.document,
        }),
        None => None,
    };
    let metadata = match request.metadata {
        Some(patch) => Some(MetadataPatch {
            format: format_from_pb(patch.format())?,
            document: patch.document,
        }),
        None => None,
    };
    Ok(PatchObject {
        key: key_from_pb(request.key)?,
        data,
        metadata,
        ttl: ttl_change(request.ttl_ms, request.remove_ttl)?,
        preconditions: preconditions_from_pb(request.preconditions)?,
        fences: fences_from_pb(request.fences)?,
    })
}

fn format_to_pb(format: PatchFormat) -> i32 {
    let format = match format {
        PatchFormat::Merge => pb::PatchFormat::Merge,
        PatchFormat::Json => pb::PatchFormat::Json,
    };
    format.into()
}

fn format_from_pb(format: pb::PatchFormat) -> Result<PatchFormat> {
    match format {
        pb::PatchFormat::Merge => Ok(PatchFormat::Merge),
        pb::PatchFormat::Json => Ok(PatchFormat::Json),
        pb::PatchFormat::Unspecified => {
            Err(CodecError::new("format", "it is not known to this build"))
        }
    }
}

fn ttl_change(ms: Option<u64>, remove: bool) -> Result<TtlChange> {
    match (ms, remove) {
        (None, false) => Ok(TtlChange::Keep),
        (None, true) => Ok(TtlChange::Remove),
        (Some(ms), false) => Ok(TtlChange::Set(ttl(ms)?)),
        (Some(_), true) => Err(CodecError::new("ttl_ms", "it is set and taken away")),
    }
}

pub(super) fn delete_to_pb(delete: &DeleteObject) -> pb::DeleteObject {
    let propagation = match delete.propagation {
        None => pb::Propagation::Unspecified,
        Some(Propagation::Background) => pb::Propagation::Background,
        Some(Propagation::Foreground) => pb::Propagation::Foreground,
        Some(Propagation::Orphan) => pb::Propagation::Orphan,
    };
    pb::DeleteObject {
        key: Some(key_to_pb(&delete.key)),
        propagation: propagation.into(),
        preconditions: preconditions_to_pb(&delete.preconditions),
        fences: fences_to_pb(&delete.fences),
    }
}

pub(super) fn delete_from_pb(delete: pb::DeleteObject) -> Result<DeleteObject> {
    // An unknown number reads as unspecified, which would be another deletion than the one that was asked for.
    let propagation = pb::Propagation::try_from(delete.propagation);
    let propagation =
        propagation.map_err(|_| CodecError::new("propagation", "it is not known to this build"))?;
    Ok(DeleteObject {
        key: key_from_pb(delete.key)?,
        propagation: match propagation {
            pb::Propagation::Unspecified => None,
            pb::Propagation::Background => Some(Propagation::Background),
            pb::Propagation::Foreground => Some(Propagation::Foreground),
            pb::Propagation::Orphan => Some(Propagation::Orphan),
        },
        preconditions: preconditions_from_pb(delete.preconditions)?,
        fences: fences_from_pb(delete.fences)?,
    })
}

pub(super) fn transact_to_pb(transact: &Transact) -> pb::Transact {
    pb::Transact {
        compares: transact.compares.iter().map(compare_to_pb).collect(),
        operations: transact.operations.iter().map(operation_to_pb).collect(),
        reads: transact.reads.iter().map(key_to_pb).collect(),
        fences: fences_to_pb(&transact.fences),
    }
}

pub(super) fn transact_from_pb(transact: pb::Transact) -> Result<Transact> {
    let compares = transact.compares.into_iter().map(compare_from_pb);
    let operations = transact.operations.into_iter().map(operation_from_pb);
    let reads = transact.reads.into_iter().map(|key| key_from_pb(Some(key)));
    Ok(Transact {
        compares: compares.collect::<Result<_>>()?,
        operations: operations.collect::<Result<_>>()?,
        reads: reads.collect::<Result<_>>()?,
        fences: fences_from_pb(transact.fences)?,
    })
}

fn compare_to_pb(compare: &Compare) -> pb::Compare {
    use pb::compare::Compare as Pb;
    let compare = match compare {
        Compare::ResourceVersion(key, version) => Pb::ResourceVersion(pb::CompareResourceVersion {
            key: Some(key_to_pb(key)),
            resource_version: version.get(),
        }),
        Compare::Exists(key) => Pb::Exists(key_to_pb(key)),
        Compare::Absent(key) => Pb::Absent(key_to_pb(key)),
        Compare::Selected(resource, version) => Pb::Selected(pb::CompareSelected {
            resource: Some(resource_to_pb(resource)),
            version: text(version.as_ref()),
        }),
    };
    pb::Compare {
        compare: Some(compare),
    }
}

fn compare_from_pb(compare: pb::Compare) -> Result<Compare> {
    use pb::compare::Compare as Pb;
    Ok(match required("compare", compare.compare)? {
        Pb::ResourceVersion(compare) => Compare::ResourceVersion(
            key_from_pb(compare.key)?,
            Revision::new(compare.resource_version),
        ),
        Pb::Exists(key) => Compare::Exists(key_from_pb(Some(key))?),
        Pb::Absent(key) => Compare::Absent(key_from_pb(Some(key))?),
        Pb::Selected(compare) => Compare::Selected(
            resource_from_pb(compare.resource)?,
            optional_version("compare.selected.version", compare.version.as_deref())?,
        ),
    })
}

fn operation_to_pb(operation: &Operation) -> pb::Operation {
    use pb::operation::Operation as Pb;
    let operation = match operation {
        Operation::Create(create) => Pb::Create(create_to_pb(create)),
        Operation::Update(update) => Pb::Update(update_to_pb(update)),
        Operation::Patch(patch) => Pb::Patch(patch_to_pb(patch)),
        Operation::Delete(delete) => Pb::Delete(delete_to_pb(delete)),
    };
    pb::Operation {
        operation: Some(operation),
    }
}

fn operation_from_pb(operation: pb::Operation) -> Result<Operation> {
    use pb::operation::Operation as Pb;
    Ok(match required("operation", operation.operation)? {
        Pb::Create(create) => Operation::Create(create_from_pb(create)?),
        Pb::Update(update) => Operation::Update(update_from_pb(update)?),
        Pb::Patch(patch) => Operation::Patch(patch_from_pb(patch)?),
        Pb::Delete(delete) => Operation::Delete(delete_from_pb(delete)?),
    })
}

fn preconditions_to_pb(preconditions: &Preconditions) -> Option<pb::Preconditions> {
    let Preconditions {
        uid,
        resource_version,
    } = preconditions;
    (!preconditions.is_empty()).then(|| pb::Preconditions {
        uid: uid
            .map(|uid| uid.as_bytes().to_vec())
            .unwrap_or_default()
            .into(),
        resource_version: resource_version.map(Revision::get),
    })
}

fn preconditions_from_pb(preconditions: Option<pb::Preconditions>) -> Result<Preconditions> {
    let Some(preconditions) = preconditions else {
        return Ok(Preconditions::default());
    };
    let named =
        (!preconditions.uid.is_empty()).then(|| uid("preconditions.uid", &preconditions.uid));
    Ok(Preconditions {
        uid: named.transpose()?,
        resource_version: preconditions.resource_version.map(Revision::new),
    })
}

fn fences_to_pb(fences: &Fences) -> Option<pb::Fences> {
    let Fences {
        if_member,
        if_lease,
    } = fences;
    (*fences != Fences::default()).then(|| pb::Fences {
        if_member: if_member
            .as_ref()
            .and_then(|(member, epoch)| who(member, *epoch)),
        if_lease: if_lease.as_ref().map(lease_token_to_pb),
    })
}

fn fences_from_pb(fences: Option<pb::Fences>) -> Result<Fences> {
    let fences = fences.unwrap_or_default();
    let if_member = fences.if_member.map(|member| who_from_pb(Some(member)));
    let if_lease = fences.if_lease.as_ref().map(lease_token_from_pb);
    Ok(Fences {
        if_member: if_member.transpose()?,
        if_lease: if_lease.transpose()?,
    })
}
