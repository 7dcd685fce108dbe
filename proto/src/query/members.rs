use synod_model::{Labels, MemberId, Violations};

use super::consistency::consistency;
use super::{Consistency, PageRequest};
use crate::convert::labels_to_wire;
use crate::fields::sound;
use crate::v1;

/// Asks for one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetMember {
    /// Which one.
    pub id: MemberId,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetMember> for v1::MembershipGetRequest {
    fn from(get: &GetMember) -> Self {
        Self {
            id: get.id.to_string(),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::MembershipGetRequest> for GetMember {
    type Error = Violations;

    fn try_from(pb: v1::MembershipGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let id = found.parsed("id", MemberId::parse(&pb.id));
        let read = consistency(pb.read, &mut found);
        let Some(id) = id else { return Err(found) };
        sound(Self { id, read }, found)
    }
}

/// Asks for a page of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListMembers {
    /// Which page.
    pub page: PageRequest<MemberId>,
    /// Only members that have all of these.
    pub labels: Labels,
}

impl From<&ListMembers> for v1::MembershipListRequest {
    fn from(list: &ListMembers) -> Self {
        let page = list.page.to_wire();
        Self {
            read: page.read,
            labels: labels_to_wire(&list.labels),
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::MembershipListRequest> for ListMembers {
    type Error = Violations;

    fn try_from(mut pb: v1::MembershipListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let labels = found.parsed("labels", Labels::parse(&pb.labels));
        let (Some(page), Some(labels)) = (page, labels) else {
            return Err(found);
        };
        sound(Self { page, labels }, found)
    }
}
