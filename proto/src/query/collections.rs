use std::borrow::Cow;

use synod_model::GroupResource;

use super::page::lists;
use super::{Consistency, PageKey, PageRequest};
use crate::{messages, v1};

/// Asks for one collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetCollection {
    /// The resource of the collection.
    pub resource: GroupResource,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a page of collections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCollections {
    /// The page.
    pub page: PageRequest<CollectionCursor>,
}

messages! {
    v1::CollectionsGetRequest = GetCollection {
        resource = resource,
        read = read,
    }
}

lists! {
    CollectionsListRequest = ListCollections {}
}

/// The end of a page of collections: its last one.
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
