//! Objects with their values, as they were read and as a write has left them, also when its answer came too late to carry
//! what it left.
//!
//! The answer to a retry comes from the record of what was executed, and if the revision of the write is no longer kept,
//! it says only the uid and the resource version. What can be read then may be of somebody else, so it is never taken for
//! what the write has left: that follows from what was sent.

use synod_model::{
    Attributes, Content, Metadata, NamespacedName, Object, ObjectKey, Preconditions, Revision, Uid,
    WallTime,
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

/// An object after a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched<T> {
    /// The object as the patch left it.
    ///
    /// `None` if that is not known here: the answer was lost and came again so late that others had changed the object
    /// or deleted it, or the codec cannot decode what the patch has made.
    pub stored: Option<Stored<T>>,
    /// False if it was so already: nothing was written.
    pub changed: bool,
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
    let own = found.filter(|object| object.metadata.resource_version == result.resource_version);
    Patched {
        stored: own.and_then(decoded),
        changed: result.changed,
        uid: result.uid,
        resource_version: result.resource_version,
    }
}
