//! Objects with their values, as they were read and as a write has left them, even if its answer was lost.
//!
//! The answer to a retry comes from the record of the executed write. If the revision of the write is no longer kept,
//! the record has only the uid and the resource version. An object that is read then may contain changes of other
//! writers, so it is never taken for the result of the write, which is computed from what was sent instead.

use synod_model::{
    Attributes, Content, Metadata, MetadataPatch, NamespacedName, Object, ObjectKey, Patch,
    Preconditions, Revision, TtlChange, Uid, WallTime,
};

use crate::{ObjectWritten, OperationResult};

/// An object as it is stored, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<T> {
    /// The object: its key, metadata, attributes and bytes.
    pub object: Object,
    /// The decoded bytes.
    pub value: T,
}

/// An object after a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated<T> {
    /// The object as the write left it; if the write removed its last finalizer, the object as it was last.
    pub stored: Stored<T>,
    /// Whether anything was written; false if the object was already as wanted.
    pub changed: bool,
    /// Whether the object was deleted by it.
    pub deleted: bool,
}

/// A change of a part of an object, which does not depend on the rest of it. It must change something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPatch {
    /// The change of its data, which must be a JSON object; `None` leaves the data, in whatever form and version.
    pub data: Option<Patch>,
    /// The change of its attributes; `None` leaves them.
    pub metadata: Option<MetadataPatch>,
    /// The change of its time to live.
    pub ttl: TtlChange,
}

impl From<Patch> for ObjectPatch {
    fn from(data: Patch) -> Self {
        Self {
            data: Some(data),
            ..Self::default()
        }
    }
}

impl From<MetadataPatch> for ObjectPatch {
    fn from(metadata: MetadataPatch) -> Self {
        Self {
            metadata: Some(metadata),
            ..Self::default()
        }
    }
}

/// An object after a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched<T> {
    /// The object as the patch left it; if the patch removed its last finalizer, the object as it was last.
    ///
    /// `None` if that is not known here: the answer was lost, and a retry was answered only after others had changed or
    /// deleted the object, or the codec cannot decode the result of the patch.
    pub stored: Option<Stored<T>>,
    /// Whether anything was written; false if the object was already as wanted.
    pub changed: bool,
    /// Whether the object was deleted by it.
    pub deleted: bool,
    /// The uid of the object.
    pub uid: Uid,
    /// The object's resource version as the patch left it.
    pub resource_version: Revision,
}

impl<T> Stored<T> {
    /// Its namespace and name.
    #[must_use]
    pub fn name(&self) -> &NamespacedName {
        &self.object.key.name
    }

    /// The preconditions that only this state of the object meets.
    #[must_use]
    pub fn preconditions(&self) -> Preconditions {
        Preconditions {
            uid: Some(self.object.metadata.uid),
            resource_version: Some(self.object.metadata.resource_version),
        }
    }
}

impl Updated<()> {
    /// The same, with the decoded value.
    #[must_use]
    pub fn with_value<T>(self, value: T) -> Updated<T> {
        Updated {
            stored: Stored {
                object: self.stored.object,
                value,
            },
            changed: self.changed,
            deleted: self.deleted,
        }
    }
}

impl<T> From<Updated<T>> for Patched<T> {
    fn from(updated: Updated<T>) -> Self {
        let metadata = &updated.stored.object.metadata;
        Self {
            changed: updated.changed,
            deleted: updated.deleted,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            stored: Some(updated.stored),
        }
    }
}

/// The object as it was created. `found` is its present state, if that is known.
pub(super) fn created(
    result: &OperationResult,
    key: ObjectKey,
    attributes: Attributes,
    content: Content,
    found: Option<Object>,
) -> Object {
    Object {
        key,
        metadata: Metadata {
            uid: result.uid,
            resource_version: result.resource_version,
            create_revision: result.resource_version,
            generation: 1,
            created: found.map_or(WallTime::default(), |object| object.metadata.created),
        },
        attributes,
        deletion: None,
        content,
        content_revision: result.resource_version,
    }
}

/// The result of an update. `sent` has the attributes and the value that were sent; the rest is as it was before, which
/// the preconditions ensure.
pub(super) fn updated<T>(written: ObjectWritten, sent: Stored<T>, content: Content) -> Updated<T> {
    let ObjectWritten { result, object, .. } = written;
    let Stored {
        object: mut own,
        value,
    } = sent;
    let object = object.unwrap_or_else(|| {
        own.metadata.resource_version = result.resource_version;
        if own.content != content {
            own.metadata.generation += 1;
            own.content_revision = result.resource_version;
            own.content = content;
        }
        own
    });
    Updated {
        stored: Stored { object, value },
        changed: result.changed,
        deleted: result.deleted,
    }
}

/// The result of a patch; `found` is the object that was read after it.
pub(super) fn patched<T>(
    result: &OperationResult,
    found: Option<Object>,
    decoded: impl FnOnce(Object) -> Option<Stored<T>>,
) -> Patched<T> {
    // A deleted object is shown as it was before its deletion.
    let own = found.filter(|object| {
        result.deleted || object.metadata.resource_version == result.resource_version
    });
    Patched {
        stored: own.and_then(decoded),
        changed: result.changed,
        deleted: result.deleted,
        uid: result.uid,
        resource_version: result.resource_version,
    }
}
