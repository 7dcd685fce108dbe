//! Objects as they are read and written.

use std::time::Duration;

use synod_model::{Object, Revision, Uid, Violations};
use synod_proto::v1;

use super::wire::{list, required};
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

impl FromWire<v1::ObjectsGetResponse> for ObjectView {
    fn from_wire(pb: v1::ObjectsGetResponse) -> Result<Self, Violations> {
        let object = required(pb.object).map_err(|fault| fault.at("object"))?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            object: Object::try_from(object)?,
            remaining: pb.remaining_ms.map(Duration::from_millis),
        })
    }
}

impl FromWire<v1::ObjectsListResponse> for ObjectPage {
    fn from_wire(pb: v1::ObjectsListResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let items = found.parsed("items", list(pb.items, ObjectItem::from_wire));
        match (header, items) {
            (Some(header), Some(items)) => Ok(Self {
                header,
                items,
                inconsistent: pb.inconsistent,
            }),
            _ => Err(found),
        }
    }
}

impl FromWire<v1::ObjectListItem> for ObjectItem {
    fn from_wire(pb: v1::ObjectListItem) -> Result<Self, Violations> {
        let object = required(pb.object).map_err(|fault| fault.at("object"))?;
        Ok(Self {
            object: Object::try_from(object)?,
            remaining: pb.remaining_ms.map(Duration::from_millis),
        })
    }
}

impl FromWire<v1::ObjectsCreateResponse> for ObjectWritten {
    fn from_wire(pb: v1::ObjectsCreateResponse) -> Result<Self, Violations> {
        let result = v1::OperationResult {
            changed: true,
            created: true,
            deleted: false,
            uid: pb.uid,
            resource_version: pb.resource_version,
        };
        written(pb.header, result, pb.object)
    }
}

impl FromWire<v1::ObjectsUpdateResponse> for ObjectWritten {
    fn from_wire(pb: v1::ObjectsUpdateResponse) -> Result<Self, Violations> {
        let result = v1::OperationResult {
            changed: pb.changed,
            created: pb.created,
            deleted: pb.deleted,
            uid: pb.uid,
            resource_version: pb.resource_version,
        };
        written(pb.header, result, pb.object)
    }
}

impl FromWire<v1::ObjectsPatchResponse> for ObjectWritten {
    fn from_wire(pb: v1::ObjectsPatchResponse) -> Result<Self, Violations> {
        let result = v1::OperationResult {
            changed: pb.changed,
            created: false,
            deleted: pb.deleted,
            uid: pb.uid,
            resource_version: pb.resource_version,
        };
        written(pb.header, result, pb.object)
    }
}

impl FromWire<v1::ObjectsDeleteResponse> for ObjectWritten {
    fn from_wire(pb: v1::ObjectsDeleteResponse) -> Result<Self, Violations> {
        let result = v1::OperationResult {
            changed: pb.changed,
            created: false,
            deleted: pb.deleted,
            uid: pb.uid,
            resource_version: pb.resource_version,
        };
        written(pb.header, result, None)
    }
}

fn written(
    header: Option<v1::ResponseHeader>,
    result: v1::OperationResult,
    object: Option<v1::Object>,
) -> Result<ObjectWritten, Violations> {
    let mut found = Violations::new();
    let header = found.parsed("", Header::from_wire(header));
    let result = found.parsed("", OperationResult::from_wire(result));
    let object = found.parsed("object", object.map(Object::try_from).transpose());
    match (header, result, object) {
        (Some(header), Some(result), Some(object)) => Ok(ObjectWritten {
            header,
            result,
            object,
        }),
        _ => Err(found),
    }
}

impl FromWire<v1::OperationResult> for OperationResult {
    fn from_wire(pb: v1::OperationResult) -> Result<Self, Violations> {
        Ok(Self {
            changed: pb.changed,
            created: pb.created,
            deleted: pb.deleted,
            uid: Uid::parse(&pb.uid).map_err(|fault| fault.at("uid"))?,
            resource_version: Revision::new(pb.resource_version),
        })
    }
}

impl FromWire<v1::ReadResult> for ReadResult {
    fn from_wire(pb: v1::ReadResult) -> Result<Self, Violations> {
        match (pb.object, pb.left_out) {
            (Some(object), _) => Ok(Self::Found(Box::new(Object::try_from(object)?))),
            (None, false) => Ok(Self::Absent),
            (None, true) => Ok(Self::LeftOut),
        }
    }
}

impl FromWire<v1::ObjectsTransactResponse> for Transacted {
    fn from_wire(pb: v1::ObjectsTransactResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let results = found.parsed("results", list(pb.results, OperationResult::from_wire));
        let reads = found.parsed("reads", list(pb.reads, ReadResult::from_wire));
        match (header, results, reads) {
            (Some(header), Some(results), Some(reads)) => Ok(Self {
                header,
                changed: pb.changed,
                succeeded: pb.succeeded,
                results,
                reads,
            }),
            _ => Err(found),
        }
    }
}
