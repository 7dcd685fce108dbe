use std::borrow::Cow;

use synod_model::ResourceScope;

use super::page::lists;
use super::{Consistency, PageKey, PageRequest};
use crate::{messages, v1};

/// Asks for one roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetRoster {
    /// The scope of the roster.
    pub scope: ResourceScope,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a page of rosters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRosters {
    /// The page.
    pub page: PageRequest<ResourceScope>,
}

messages! {
    v1::RostersGetRequest = GetRoster {
        scope = scope,
        read = read,
    }
}

lists! {
    RostersListRequest = ListRosters {}
}

impl PageKey for ResourceScope {
    const LIST: u8 = 60;

    fn as_text(&self) -> Cow<'_, str> {
        self.to_string().into()
    }

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }
}
