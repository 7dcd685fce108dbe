//! Resources as they are read: what members report, and what stays.

use synod_model::{LogTime, Violations};
use synod_proto::v1;

use super::wire::list;
use super::{FromWire, Header, StorageState, StorageVersion};

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The entries and what follows from them. `None` if no member reports the resource now.
    pub storage_version: Option<StorageVersion>,
    /// What stays when the entries go.
    pub storage_state: Option<StorageState>,
    /// The log time of the state that was read, to hold against the drains.
    pub log_time: LogTime,
}

/// Resources in a list, all at one revision, ordered by group and resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionPage {
    /// Who answered, and the revision of all pages of this list.
    pub header: Header,
    /// The resources.
    pub items: Vec<StorageVersionItem>,
    /// The log time of the state that was read, to hold against the drains.
    pub log_time: LogTime,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
    pub inconsistent: bool,
}

/// A resource in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionItem {
    /// The entries and what follows from them. `None` if no member reports the resource now.
    pub storage_version: Option<StorageVersion>,
    /// What stays when the entries go.
    pub storage_state: Option<StorageState>,
}

impl FromWire<v1::StorageVersionsGetResponse> for StorageVersionView {
    fn from_wire(pb: v1::StorageVersionsGetResponse) -> Result<Self, Violations> {
        let item = StorageVersionItem::from_wire(v1::StorageVersionListItem {
            storage_version: pb.storage_version,
            storage_state: pb.storage_state,
        })?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            storage_version: item.storage_version,
            storage_state: item.storage_state,
            log_time: LogTime::from_millis(pb.log_time_ms),
        })
    }
}

impl FromWire<v1::StorageVersionsListResponse> for StorageVersionPage {
    fn from_wire(pb: v1::StorageVersionsListResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let items = found.parsed("items", list(pb.items, StorageVersionItem::from_wire));
        let (Some(header), Some(items)) = (header, items) else {
            return Err(found);
        };
        Ok(Self {
            header,
            items,
            log_time: LogTime::from_millis(pb.log_time_ms),
            inconsistent: pb.inconsistent,
        })
    }
}

impl FromWire<v1::StorageVersionListItem> for StorageVersionItem {
    fn from_wire(pb: v1::StorageVersionListItem) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let storage_version = pb
            .storage_version
            .map(StorageVersion::from_wire)
            .transpose();
        let storage_version = found.parsed("storageVersion", storage_version);
        let storage_state = pb.storage_state.map(StorageState::from_wire).transpose();
        let storage_state = found.parsed("storageState", storage_state);
        match (storage_version, storage_state) {
            (Some(storage_version), Some(storage_state)) => Ok(Self {
                storage_version,
                storage_state,
            }),
            _ => Err(found),
        }
    }
}
