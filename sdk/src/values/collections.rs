//! The answers about collections.

use synod_model::{ApiVersion, Collection, Violations};
use synod_proto::wire::Wire;
use synod_proto::{messages, v1};

use super::{FromWire, Header};

/// The answer to declaring or changing a collection, or to a dry run of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionChanged {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// False if nothing had to be changed.
    pub changed: bool,
    /// The collection. `None` if this is the answer to a retry, so late that its revision is no longer kept.
    pub collection: Option<Collection>,
}

/// One collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The collection, and how many objects it holds.
    pub item: CollectionItem,
}

/// Collections in a list, all at one revision, ordered by group and resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionPage {
    /// The replica that answered, and the revision of all pages of this list.
    pub header: Header,
    /// The collections.
    pub items: Vec<CollectionItem>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// A collection with the number of its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionItem {
    /// The collection.
    pub collection: Collection,
    /// How many objects it holds, by version.
    pub counts: Vec<EncodingCount>,
}

/// How many objects of a collection are encoded in a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodingCount {
    /// The version.
    pub version: ApiVersion,
    /// The number, exact.
    pub objects: u64,
}

impl CollectionItem {
    /// How many objects it holds.
    #[must_use]
    pub fn objects(&self) -> u64 {
        self.counts.iter().map(|count| count.objects).sum()
    }
}

messages! {
    v1::CollectionsUpdateResponse = CollectionChanged {
        header = header,
        changed = changed,
        collection = collection,
    }
    v1::CollectionsListResponse = CollectionPage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::CollectionListItem = CollectionItem {
        collection = collection,
        counts = counts,
    }
    v1::EncodingCount = EncodingCount {
        version = version,
        objects = objects,
    }
}

impl FromWire<v1::CollectionsCreateResponse> for CollectionChanged {
    fn from_wire(pb: v1::CollectionsCreateResponse) -> Result<Self, Violations> {
        Self::of_wire(v1::CollectionsUpdateResponse {
            header: pb.header,
            changed: true,
            collection: pb.collection,
        })
    }
}

impl Wire<v1::CollectionsGetResponse> for CollectionView {
    fn to_wire(&self) -> v1::CollectionsGetResponse {
        v1::CollectionsGetResponse {
            header: self.header.to_wire(),
            collection: self.item.collection.to_wire(),
            counts: self.item.counts.to_wire(),
        }
    }

    fn of_wire(pb: v1::CollectionsGetResponse) -> Result<Self, Violations> {
        let item = v1::CollectionListItem {
            collection: pb.collection,
            counts: pb.counts,
        };
        Ok(Self {
            header: Wire::of_wire(pb.header)?,
            item: Wire::of_wire(item)?,
        })
    }
}
