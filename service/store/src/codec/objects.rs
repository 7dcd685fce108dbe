//! Collections, objects, and what deletions have left.

use std::sync::Arc;

use synod_machine::{Cursor, Fate, Garbage, Written, WrittenHow};
use synod_model::{
    Annotations, Attributes, Collection, CollectionRules, Content, Deletion, Finalizers, MediaType,
    Namespace, Object, ObjectKey, ObjectName, OwnerReference, OwnerReferences, Revision, Uid,
    WallTime,
};
use synod_proto::storage::v1 as pb;

use super::CodecError;
use super::values::{
    kind, labels_from_pb, labels_to_pb, metadata_from_pb, metadata_to_pb, pairs_to_pb, parsed,
    required, resource_from_pb, resource_to_pb, uid, version,
};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn key_to_pb(key: &ObjectKey) -> pb::ObjectKey {
    pb::ObjectKey {
        resource: Some(resource_to_pb(&key.resource)),
        namespace: key.name.namespace().unwrap_or_default().to_owned(),
        name: key.name.name().to_owned(),
    }
}

pub(super) fn key_from_pb(key: Option<pb::ObjectKey>) -> Result<ObjectKey> {
    let key = required("key", key)?;
    let namespace = (!key.namespace.is_empty())
        .then(|| parsed("key.namespace", Namespace::parse(&key.namespace)))
        .transpose()?;
    let name = parsed("key.name", ObjectName::parse(&key.name))?;
    let resource = resource_from_pb(key.resource)?;
    Ok(ObjectKey::new(resource, namespace.as_ref(), &name))
}

pub(super) fn attributes_to_pb(attributes: &Attributes) -> pb::Attributes {
    let owners = attributes.owners.iter();
    pb::Attributes {
        labels: labels_to_pb(&attributes.labels),
        annotations: pairs_to_pb(attributes.annotations.iter()),
        owners: owners
            .map(|owner| pb::OwnerReference {
                api_version: owner.api_version.to_string(),
                kind: owner.kind.to_string(),
                name: owner.name.to_string(),
                uid: owner.uid.as_bytes().to_vec().into(),
                controller: owner.controller,
                block_owner_deletion: owner.block_owner_deletion,
            })
            .collect(),
        finalizers: attributes
            .finalizers
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}

pub(super) fn attributes_from_pb(attributes: Option<pb::Attributes>) -> Result<Attributes> {
    let attributes = required("attributes", attributes)?;
    let notes = attributes.annotations.iter();
    let owners = attributes.owners.iter().map(|owner| {
        Ok(OwnerReference {
            api_version: version("owners.api_version", &owner.api_version)?,
            kind: kind(&owner.kind)?,
            name: parsed("owners.name", ObjectName::parse(&owner.name))?,
            uid: uid("owners.uid", &owner.uid)?,
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        })
    });
    let owners = owners.collect::<Result<_>>()?;
    Ok(Attributes {
        labels: labels_from_pb(&attributes.labels)?,
        annotations: parsed(
            "annotations",
            Annotations::parse(notes.map(|note| (&note.key, &note.value))),
        )?,
        owners: parsed("owners", OwnerReferences::new(owners))?,
        finalizers: parsed("finalizers", Finalizers::parse(&attributes.finalizers))?,
    })
}

pub(super) fn content_to_pb(content: &Content) -> pb::Content {
    pb::Content {
        encoding: content.encoding.to_string(),
        media_type: content.media_type.to_string(),
        data: content.data.clone(),
    }
}

pub(super) fn content_from_pb(content: Option<pb::Content>) -> Result<Content> {
    let content = required("content", content)?;
    Ok(Content {
        encoding: version("content.encoding", &content.encoding)?,
        media_type: parsed("content.media_type", MediaType::parse(&content.media_type))?,
        data: content.data,
    })
}

pub(super) fn object_to_pb(object: &Object) -> pb::Object {
    pb::Object {
        key: Some(key_to_pb(&object.key)),
        metadata: Some(metadata_to_pb(&object.metadata)),
        attributes: Some(attributes_to_pb(&object.attributes)),
        deletion: object.deletion.as_deref().map(|deletion| pb::Deletion {
            at_ms: deletion.at.as_millis(),
            revision: deletion.revision.get(),
            position: deletion.position,
        }),
        content: Some(content_to_pb(&object.content)),
        content_revision: object.content_revision.get(),
    }
}

pub(super) fn object_from_pb(object: pb::Object) -> Result<Arc<Object>> {
    let deletion = object.deletion.map(|deletion| {
        Arc::new(Deletion {
            at: WallTime::from_millis(deletion.at_ms),
            revision: Revision::new(deletion.revision),
            position: deletion.position,
        })
    });
    Ok(Arc::new(Object {
        key: key_from_pb(object.key)?,
        metadata: metadata_from_pb(object.metadata)?,
        attributes: attributes_from_pb(object.attributes)?,
        deletion,
        content: content_from_pb(object.content)?,
        content_revision: Revision::new(object.content_revision),
    }))
}

pub(super) fn rules_to_pb(rules: CollectionRules) -> pb::CollectionRules {
    pb::CollectionRules {
        strict_storage_version: rules.strict_storage_version,
        create_on_update: rules.create_on_update,
        unconditional_update: rules.unconditional_update,
    }
}

pub(super) fn rules_from_pb(rules: Option<pb::CollectionRules>) -> Result<CollectionRules> {
    let rules = required("rules", rules)?;
    Ok(CollectionRules {
        strict_storage_version: rules.strict_storage_version,
        create_on_update: rules.create_on_update,
        unconditional_update: rules.unconditional_update,
    })
}

pub(super) fn collection_to_pb(row: &Collection) -> pb::Collection {
    pb::Collection {
        resource: Some(resource_to_pb(&row.resource)),
        metadata: Some(metadata_to_pb(&row.metadata)),
        kind: row.kind.to_string(),
        namespaced: row.namespaced,
        rules: Some(rules_to_pb(row.rules)),
    }
}

pub(super) fn collection_from_pb(row: pb::Collection) -> Result<Arc<Collection>> {
    Ok(Arc::new(Collection {
        resource: resource_from_pb(row.resource)?,
        metadata: metadata_from_pb(row.metadata)?,
        kind: kind(&row.kind)?,
        namespaced: row.namespaced,
        rules: rules_from_pb(row.rules)?,
    }))
}

pub(super) fn garbage_to_pb(uid: &Uid, garbage: &Garbage) -> pb::GarbageRow {
    let fate = match garbage.fate {
        Fate::Background => pb::Fate::Background,
        Fate::Foreground => pb::Fate::Foreground,
        Fate::Orphan => pb::Fate::Orphan,
    };
    let cursor = match &garbage.cursor {
        Cursor::Start => None,
        Cursor::After(key) => Some(pb::garbage_row::Cursor::After(key_to_pb(key))),
        Cursor::End => Some(pb::garbage_row::Cursor::End(pb::Done {})),
    };
    pb::GarbageRow {
        uid: uid.as_bytes().to_vec().into(),
        owner: Some(key_to_pb(&garbage.owner)),
        fate: fate.into(),
        cursor,
    }
}

pub(super) fn garbage_from_pb(row: pb::GarbageRow) -> Result<(Uid, Arc<Garbage>)> {
    let fate = match row.fate() {
        pb::Fate::Background => Fate::Background,
        pb::Fate::Foreground => Fate::Foreground,
        pb::Fate::Orphan => Fate::Orphan,
        pb::Fate::Unspecified => {
            return Err(CodecError::new("fate", "it is not known to this build"));
        }
    };
    let cursor = match row.cursor {
        None => Cursor::Start,
        Some(pb::garbage_row::Cursor::After(key)) => Cursor::After(key_from_pb(Some(key))?),
        Some(pb::garbage_row::Cursor::End(pb::Done {})) => Cursor::End,
    };
    let garbage = Garbage {
        owner: key_from_pb(row.owner)?,
        fate,
        cursor,
    };
    Ok((uid("uid", &row.uid)?, Arc::new(garbage)))
}

pub(super) fn written_to_pb(written: &Written) -> pb::Written {
    let how = match written.how {
        WrittenHow::Created => pb::WrittenHow::Created,
        WrittenHow::Updated => pb::WrittenHow::Updated,
        WrittenHow::Unchanged => pb::WrittenHow::Unchanged,
        WrittenHow::Deleted => pb::WrittenHow::Deleted,
        WrittenHow::Deleting => pb::WrittenHow::Deleting,
    };
    pb::Written {
        how: how.into(),
        uid: written.uid.as_bytes().to_vec().into(),
        resource_version: written.resource_version.get(),
    }
}

pub(super) fn written_from_pb(written: pb::Written) -> Result<Written> {
    let how = match written.how() {
        pb::WrittenHow::Created => WrittenHow::Created,
        pb::WrittenHow::Updated => WrittenHow::Updated,
        pb::WrittenHow::Unchanged => WrittenHow::Unchanged,
        pb::WrittenHow::Deleted => WrittenHow::Deleted,
        pb::WrittenHow::Deleting => WrittenHow::Deleting,
        pb::WrittenHow::Unspecified => {
            return Err(CodecError::new(
                "written.how",
                "it is not known to this build",
            ));
        }
    };
    Ok(Written {
        how,
        uid: uid("written.uid", &written.uid)?,
        resource_version: Revision::new(written.resource_version),
    })
}
