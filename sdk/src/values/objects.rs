//! Objects as they are read and written.

use std::time::Duration;

use synod_model::{Object, Revision, Uid, Violations};
use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

use super::{FromWire, Header};

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The object.
    pub object: Object,
    /// How much log time it has left: a hint, since a change of leader gives more. `None` if it has no TTL, and for a
    /// read of the past.
    pub remaining: Option<Duration>,
}

/// Objects in a list, ordered by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPage {
    /// Who answered, and the revision of all pages of this list, but for those that are inconsistent with it.
    pub header: Header,
    /// The objects.
    pub items: Vec<ObjectItem>,
    /// Whether it is of a later revision than the page before it, as was asked for
    /// ([`Pages::at_present`](crate::Pages::at_present)).
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

/// What a change of one object did, or would have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectWritten {
    /// Who answered, and at which revision.
    pub header: Header,
    /// What became of the object.
    pub result: OperationResult,
    /// The object after the change, or as it was last. `None` for a deletion, and if this is the answer to a retry, so
    /// late that its revision is no longer kept.
    pub object: Option<Object>,
}

/// What became of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationResult {
    /// False if it was so already: nothing was written.
    pub changed: bool,
    /// Whether it was not there before.
    pub created: bool,
    /// Whether it is gone.
    pub deleted: bool,
    /// Its uid.
    pub uid: Uid,
    /// The revision of its last change.
    pub resource_version: Revision,
}

/// What a transaction did, or would have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transacted {
    /// Who answered, and at which revision.
    pub header: Header,
    /// False if nothing was written.
    pub changed: bool,
    /// Whether all comparisons held, so that the operations were carried out.
    pub succeeded: bool,
    /// One for each operation, in order, if it succeeded.
    pub results: Vec<OperationResult>,
    /// One for each read, in order, if it did not.
    pub reads: Vec<ReadResult>,
}

/// What a transaction read, as of its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// The object.
    Found(Box<Object>),
    /// It was not there.
    Absent,
    /// The answer does not say: it had no room left, or came so late to a retry that the revision is no longer kept. Read
    /// the object by itself.
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

/// What a change of one object is answered: each message has those of the fields that it can say anything in.
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
