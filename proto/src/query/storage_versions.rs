use synod_model::{GroupResource, Violations};

use super::consistency::consistency;
use super::{Consistency, PageRequest};
use crate::fields::{required, sound};
use crate::v1;

/// Asks for one resource: its storage version and its storage state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetStorageVersion {
    /// Which one.
    pub resource: GroupResource,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetStorageVersion> for v1::StorageVersionsGetRequest {
    fn from(get: &GetStorageVersion) -> Self {
        Self {
            resource: Some((&get.resource).into()),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::StorageVersionsGetRequest> for GetStorageVersion {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsGetRequest) -> Result<Self, Violations> {
        let (resource, read) = one_resource(pb.resource, pb.read)?;
        Ok(Self { resource, read })
    }
}

/// Asks for a page of resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListStorageVersions {
    /// Which page.
    pub page: PageRequest<GroupResource>,
    /// Whether to list resources, too, that no member reports now.
    pub include_unreported: bool,
}

impl From<&ListStorageVersions> for v1::StorageVersionsListRequest {
    fn from(list: &ListStorageVersions) -> Self {
        let page = list.page.to_wire();
        Self {
            read: page.read,
            include_unreported: list.include_unreported,
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::StorageVersionsListRequest> for ListStorageVersions {
    type Error = Violations;

    fn try_from(mut pb: v1::StorageVersionsListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let Some(page) = page else { return Err(found) };
        sound(
            Self {
                page,
                include_unreported: pb.include_unreported,
            },
            found,
        )
    }
}

/// Asks for what was agreed on a resource, change by change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementHistory {
    /// Which one.
    pub resource: GroupResource,
    /// How to read.
    pub read: Consistency,
}

impl From<&AgreementHistory> for v1::StorageVersionsHistoryRequest {
    fn from(history: &AgreementHistory) -> Self {
        Self {
            resource: Some((&history.resource).into()),
            read: Some(history.read.into()),
        }
    }
}

impl TryFrom<v1::StorageVersionsHistoryRequest> for AgreementHistory {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsHistoryRequest) -> Result<Self, Violations> {
        let (resource, read) = one_resource(pb.resource, pb.read)?;
        Ok(Self { resource, read })
    }
}

/// Reads the fields `resource` and `read`.
pub(super) fn one_resource(
    resource: Option<v1::GroupResource>,
    read: Option<v1::ReadOptions>,
) -> Result<(GroupResource, Consistency), Violations> {
    let mut found = Violations::new();
    let named = required(resource, "must name a resource")
        .map_err(Into::into)
        .and_then(GroupResource::try_from);
    let resource = found.parsed("resource", named);
    let read = consistency(read, &mut found);
    let Some(resource) = resource else {
        return Err(found);
    };
    sound((resource, read), found)
}
