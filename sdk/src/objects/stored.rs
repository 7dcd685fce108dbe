//! Objects with their values, as they were read and as a write has left them, also when its answer came too late to carry
//! what it left.
//!
//! The answer to a retry comes from the record of what was executed, and if the revision of the write is no longer kept,
//! it says only the uid and the resource version. What can be read then may be of somebody else, so it is never taken for
//! what the write has left: that follows from what was sent.

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
    /// What the bytes say.
    pub value: T,
}

/// An object after a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated<T> {
    /// The object as the write left it, or if that took its last finalizer, as it was last.
    pub stored: Stored<T>,
    /// False if it was so already: nothing was written.
    pub changed: bool,
    /// Whether it is gone.
    pub deleted: bool,
}

/// A change of a part of an object, whatever the rest of it is. It must change something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPatch {
    /// The change of its data, which must be a JSON object; `None` leaves it, in whatever form and version.
    pub data: Option<Patch>,
    /// The change of what is said of it; `None` leaves that.
    pub metadata: Option<MetadataPatch>,
    /// How long it lives from now on.
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
    /// The object as the patch left it, or if that took its last finalizer, as it was last.
    ///
    /// `None` if that is not known here: the answer was lost and came again so late that others had changed the object
    /// or deleted it, or the codec cannot decode what the patch has made.
    pub stored: Option<Stored<T>>,
    /// False if it was so already: nothing was written.
    pub changed: bool,
    /// Whether it is gone.
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

    /// What pins this object as it is.
    #[must_use]
    pub fn preconditions(&self) -> Preconditions {
        Preconditions {
            uid: Some(self.object.metadata.uid),
            resource_version: Some(self.object.metadata.resource_version),
        }
    }
}

impl Updated<()> {
    /// The same, with what the bytes say.
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

/// The object that was created so. `found` is what it has become since, if it is known.
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

/// The answer to an update. `sent` has the attributes and the value that were sent, and the rest as it was before, which
/// the preconditions have pinned.
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

/// The answer to a patch, after which the object was found so.
pub(super) fn patched<T>(
    result: &OperationResult,
    found: Option<Object>,
    decoded: impl FnOnce(Object) -> Option<Stored<T>>,
) -> Patched<T> {
    // What is gone was last as it was before its deletion.
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
