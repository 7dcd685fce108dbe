//! The answers about objects.

use std::time::Duration;

use synod_model::{Object, Revision, Uid, Violations};
use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

use super::{FromWire, Header};

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The object.
    pub object: Object,
    /// How much log time it has left: a hint, since a change of leader extends it. `None` if it has no TTL, and for a
    /// read of the past.
    pub remaining: Option<Duration>,
}

/// Objects in a list, ordered by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPage {
    /// The replica that answered, and the revision of all pages of this list, except inconsistent ones.
    pub header: Header,
    /// The objects.
    pub items: Vec<ObjectItem>,
    /// Whether it is of a later revision than the page before it, which happens only with
    /// [`Pages::at_present`](crate::Pages::at_present).
    pub inconsistent: bool,
}

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectItem {
    /// The object.
    pub object: Object,
    /// How much log time it has left, as in [`ObjectView::remaining`].
    pub remaining: Option<Duration>,
}

/// The answer to a change of one object, or to a dry run of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectWritten {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// What was done to the object.
    pub result: OperationResult,
    /// The object after the change, or as it was last. `None` for a deletion, in the answer to a retry so late that its
    /// revision is no longer kept, and where it was asked to be left out
    /// ([`RawObjects::without_objects`](crate::RawObjects::without_objects)).
    pub object: Option<Object>,
}

/// What was done to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationResult {
    /// False if nothing was written, as the object was already as wanted.
    pub changed: bool,
    /// Whether the object did not exist before.
    pub created: bool,
    /// Whether the object was deleted.
    pub deleted: bool,
    /// Its uid.
    pub uid: Uid,
    /// The revision of its last change.
    pub resource_version: Revision,
}

/// The answer to a transaction, or to a dry run of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transacted {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// False if nothing was written.
    pub changed: bool,
    /// Whether all comparisons held, so that the operations were executed.
    pub succeeded: bool,
    /// The result of each operation, in order, if the comparisons held.
    pub results: Vec<OperationResult>,
    /// The result of each read, in order, if they did not hold.
    pub reads: Vec<ReadResult>,
}

/// What a transaction read, as of its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// The object.
    Found(Box<Object>),
    /// There was no such object.
    Absent,
    /// The answer does not contain it: there was no room left, or the answer is to a retry so late that the revision is
    /// no longer kept. Read the object by itself.
    LeftOut,
}

messages! {
    v1::ObjectsGetResponse = ObjectView {
        header = header,
        object = object,
        remaining = remaining_ms,
    }
    v1::ObjectsListResponse = ObjectPage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::ObjectListItem = ObjectItem {
        object = object,
        remaining = remaining_ms,
    }
    v1::OperationResult = OperationResult {
        changed = changed,
        created = created,
        deleted = deleted,
        uid = uid,
        resource_version = resource_version,
    }
    v1::ObjectsTransactResponse = Transacted {
        header = header,
        changed = changed,
        succeeded = succeeded,
        results = results,
        reads = reads,
    }
}

/// Reads an [`ObjectWritten`] from the answers to changes: each message has only those of its fields that can vary.
macro_rules! written {
    ($($answer:ident: $pb:ident => $changed:expr, $created:expr, $deleted:expr, $object:expr;)*) => { $(
        impl FromWire<v1::$answer> for ObjectWritten {
            fn from_wire($pb: v1::$answer) -> Result<Self, Violations> {
                let result = v1::OperationResult {
                    changed: $changed,
                    created: $created,
                    deleted: $deleted,
                    uid: $pb.uid,
                    resource_version: $pb.resource_version,
                };
                let object: Option<v1::Object> = $object;
                Ok(Self {
                    header: Wire::of_wire($pb.header)?,
                    result: Wire::of_wire(result)?,
                    object: Wire::of_wire(object)?,
                })
            }
        }
    )* };
}

written! {
    ObjectsCreateResponse: pb => true, true, false, pb.object;
    ObjectsUpdateResponse: pb => pb.changed, pb.created, pb.deleted, pb.object;
    ObjectsPatchResponse: pb => pb.changed, false, pb.deleted, pb.object;
    ObjectsDeleteResponse: pb => pb.changed, false, pb.deleted, None;
}

impl Wire<v1::ReadResult> for ReadResult {
    fn to_wire(&self) -> v1::ReadResult {
        let object = match self {
            Self::Found(object) => Some(object.to_wire()),
            Self::Absent | Self::LeftOut => None,
        };
        v1::ReadResult {
            object,
            left_out: *self == Self::LeftOut,
        }
    }

    fn of_wire(pb: v1::ReadResult) -> Result<Self, Violations> {
        match (pb.object, pb.left_out) {
            (Some(object), _) => Ok(Self::Found(Wire::of_wire(object)?)),
            (None, false) => Ok(Self::Absent),
            (None, true) => Ok(Self::LeftOut),
        }
    }
}
