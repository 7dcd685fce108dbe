use std::borrow::Cow;

use synod_model::{ResourceScope, Violations};

use super::consistency::consistency;
use super::{Consistency, PageKey, PageRequest};
use crate::fields::sound;
use crate::v1;

/// Asks for one roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetRoster {
    /// For which resources it is.
    pub scope: ResourceScope,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetRoster> for v1::RostersGetRequest {
    fn from(get: &GetRoster) -> Self {
        Self {
            scope: get.scope.to_string(),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::RostersGetRequest> for GetRoster {
    type Error = Violations;

    fn try_from(pb: v1::RostersGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let scope = found.parsed("scope", ResourceScope::parse(&pb.scope));
        let read = consistency(pb.read, &mut found);
        let Some(scope) = scope else {
            return Err(found);
        };
        sound(Self { scope, read }, found)
    }
}

/// Asks for a page of rosters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRosters {
    /// Which page.
    pub page: PageRequest<ResourceScope>,
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

impl From<&ListRosters> for v1::RostersListRequest {
    fn from(list: &ListRosters) -> Self {
        let page = list.page.to_wire();
        Self {
            read: page.read,
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::RostersListRequest> for ListRosters {
    type Error = Violations;

    fn try_from(mut pb: v1::RostersListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let Some(page) = page else { return Err(found) };
        sound(Self { page }, found)
    }
}
