//! The answers about resources: what members report, and the storage states.

use synod_model::{LogTime, WallTime};
use synod_proto::{messages, v1};

use super::{Header, Obstacle, StorageState, StorageVersion};

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The entries and the status that follows from them. `None` if no member reports the resource now.
    pub storage_version: Option<StorageVersion>,
    /// What is kept when the entries are removed.
    pub storage_state: Option<StorageState>,
    /// The log time of the state that was read, to be compared with the ends of drains.
    pub log_time: LogTime,
    /// The last look at the resource's discovery; `None` if there was none.
    pub heartbeat: Option<Heartbeat>,
    /// Why the members do not agree on the resource; empty if they agree.
    pub reasons: Vec<Obstacle>,
}

/// The time of the last look at the discovery of a resource. A look that shows the same moves no revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The log time of the look.
    pub log_time: LogTime,
    /// The wall time of the look, for display.
    pub time: WallTime,
    /// Whether it is longer ago than two periods, so that what is stored may have changed since.
    pub stale: bool,
}

/// Resources in a list, all at one revision, ordered by group and resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionPage {
    /// The replica that answered, and the revision of all pages of this list.
    pub header: Header,
    /// The resources.
    pub items: Vec<StorageVersionItem>,
    /// The log time of the state that was read, to be compared with the ends of drains.
    pub log_time: LogTime,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// A resource in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionItem {
    /// The entries and the status that follows from them. `None` if no member reports the resource now.
    pub storage_version: Option<StorageVersion>,
    /// What is kept when the entries are removed.
    pub storage_state: Option<StorageState>,
    /// Why the members do not agree on the resource; empty if they agree.
    pub reasons: Vec<Obstacle>,
}

messages! {
    v1::StorageVersionsGetResponse = StorageVersionView {
        header = header,
        storage_version = storage_version,
        storage_state = storage_state,
        log_time = log_time_ms,
        heartbeat = heartbeat,
        reasons = reasons,
    }
    v1::Heartbeat = Heartbeat {
        log_time = log_time_ms,
        time = time_ms,
        stale = stale,
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
        reasons = reasons,
    }
}
