use synod_model::{Labels, MemberId};

use super::page::lists;
use super::{Consistency, PageRequest};
use crate::{messages, v1};

/// Asks for one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetMember {
    /// The id of the member.
    pub id: MemberId,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a page of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListMembers {
    /// The page.
    pub page: PageRequest<MemberId>,
    /// Only members that have all of these labels.
    pub labels: Labels,
}

messages! {
    v1::MembershipGetRequest = GetMember {
        id = id,
        read = read,
    }
}

lists! {
    MembershipListRequest = ListMembers {
        labels = labels,
    }
}
