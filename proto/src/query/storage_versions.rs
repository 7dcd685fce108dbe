use synod_model::GroupResource;

use super::page::lists;
use super::{Consistency, PageRequest};
use crate::{messages, v1};

/// Asks for one resource: its storage version and its storage state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetStorageVersion {
    /// The resource.
    pub resource: GroupResource,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a page of resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStorageVersions {
    /// The page.
    pub page: PageRequest<GroupResource>,
    /// Whether to list resources, too, that no member reports now.
    pub include_unreported: bool,
}

/// Asks for the history of the agreements on a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementHistory {
    /// The resource.
    pub resource: GroupResource,
    /// The consistency of the read.
    pub read: Consistency,
}

messages! {
    v1::StorageVersionsGetRequest = GetStorageVersion {
        resource = resource,
        read = read,
    }
    v1::StorageVersionsHistoryRequest = AgreementHistory {
        resource = resource,
        read = read,
    }
}

lists! {
    StorageVersionsListRequest = ListStorageVersions {
        include_unreported = include_unreported,
    }
}
