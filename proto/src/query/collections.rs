use std::borrow::Cow;

use synod_model::{GroupResource, Violations};

use super::storage_versions::one_resource;
use super::{Consistency, PageKey, PageRequest};
use crate::fields::sound;
use crate::v1;

/// Asks for one collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetCollection {
    /// Which one.
    pub resource: GroupResource,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetCollection> for v1::CollectionsGetRequest {
    fn from(get: &GetCollection) -> Self {
        Self {
            resource: Some((&get.resource).into()),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::CollectionsGetRequest> for GetCollection {
    type Error = Violations;

    fn try_from(pb: v1::CollectionsGetRequest) -> Result<Self, Violations> {
        let (resource, read) = one_resource(pb.resource, pb.read)?;
        Ok(Self { resource, read })
    }
}

/// Asks for a page of collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCollections {
    /// Which page.
    pub page: PageRequest<CollectionCursor>,
}

/// Where a page of collections ended: at this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectionCursor(pub GroupResource);

impl PageKey for CollectionCursor {
    const LIST: u8 = 5;

    fn as_text(&self) -> Cow<'_, str> {
        self.0.qualified().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        GroupResource::parse_qualified(text).ok().map(Self)
    }
}

impl From<&ListCollections> for v1::CollectionsListRequest {
    fn from(list: &ListCollections) -> Self {
        let page = list.page.to_wire();
        Self {
            read: page.read,
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::CollectionsListRequest> for ListCollections {
    type Error = Violations;

    fn try_from(mut pb: v1::CollectionsListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let Some(page) = page else { return Err(found) };
        sound(Self { page }, found)
    }
}
