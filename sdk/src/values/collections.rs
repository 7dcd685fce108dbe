//! Collections as they are read.

use synod_model::{ApiVersion, Collection, Violations};
use synod_proto::v1;

use super::wire::{list, required};
use super::{FromWire, Header};

/// A collection was declared or changed, or would have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionChanged {
    /// Who answered, and at which revision.
    pub header: Header,
    /// False if it was so already.
    pub changed: bool,
    /// The collection. `None` if this is the answer to a retry, so late that its revision is no longer kept.
    pub collection: Option<Collection>,
}

/// One collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The collection, and how many objects it holds.
    pub item: CollectionItem,
}

/// Collections in a list, all at one revision, ordered by group and resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionPage {
    /// Who answered, and the revision of all pages of this list.
    pub header: Header,
    /// The collections.
    pub items: Vec<CollectionItem>,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
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

impl FromWire<v1::CollectionsCreateResponse> for CollectionChanged {
    fn from_wire(pb: v1::CollectionsCreateResponse) -> Result<Self, Violations> {
        changed(pb.header, true, pb.collection)
    }
}

impl FromWire<v1::CollectionsUpdateResponse> for CollectionChanged {
    fn from_wire(pb: v1::CollectionsUpdateResponse) -> Result<Self, Violations> {
        changed(pb.header, pb.changed, pb.collection)
    }
}

fn changed(
    header: Option<v1::ResponseHeader>,
    changed: bool,
    collection: Option<v1::Collection>,
) -> Result<CollectionChanged, Violations> {
    let mut found = Violations::new();
    let header = found.parsed("", Header::from_wire(header));
    let collection = collection.map(Collection::try_from).transpose();
    match (header, found.parsed("collection", collection)) {
        (Some(header), Some(collection)) => Ok(CollectionChanged {
            header,
            changed,
            collection,
        }),
        _ => Err(found),
    }
}

impl FromWire<v1::CollectionsGetResponse> for CollectionView {
    fn from_wire(pb: v1::CollectionsGetResponse) -> Result<Self, Violations> {
        let item = v1::CollectionListItem {
            collection: pb.collection,
            counts: pb.counts,
        };
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            item: CollectionItem::from_wire(item)?,
        })
    }
}

impl FromWire<v1::CollectionsListResponse> for CollectionPage {
    fn from_wire(pb: v1::CollectionsListResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let items = found.parsed("items", list(pb.items, CollectionItem::from_wire));
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

impl FromWire<v1::CollectionListItem> for CollectionItem {
    fn from_wire(pb: v1::CollectionListItem) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let collection = required(pb.collection).map_err(Violations::from);
        let collection = found.parsed("collection", collection.and_then(Collection::try_from));
        let counts = found.parsed("counts", list(pb.counts, EncodingCount::from_wire));
        match (collection, counts) {
            (Some(collection), Some(counts)) => Ok(Self { collection, counts }),
            _ => Err(found),
        }
    }
}

impl FromWire<v1::EncodingCount> for EncodingCount {
    fn from_wire(pb: v1::EncodingCount) -> Result<Self, Violations> {
        Ok(Self {
            version: ApiVersion::parse(&pb.version)?,
            objects: pb.objects,
        })
    }
}
