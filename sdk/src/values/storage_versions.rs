//! Resources as they are read: what members report, and what stays.

use synod_model::LogTime;
use synod_proto::{messages, v1};

use super::{Header, StorageState, StorageVersion};

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

messages! {
    v1::StorageVersionsGetResponse = StorageVersionView {
        header = header,
        storage_version = storage_version,
        storage_state = storage_state,
        log_time = log_time_ms,
        ; ..Default::default()
    }
    v1::StorageVersionsListResponse = StorageVersionPage {
        header = header,
        items = items,
        log_time = log_time_ms,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::StorageVersionListItem = StorageVersionItem {
        storage_version = storage_version,
        storage_state = storage_state,
    }
}
