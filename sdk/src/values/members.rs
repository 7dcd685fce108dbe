//! The answers about members.

use std::time::Duration;

use synod_model::Member;
use synod_proto::{messages, v1};

use super::Header;

/// One member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The member.
    pub member: Member,
    /// How much log time it has left at least: a hint, since a change of leader extends it. The leader knows of all
    /// renewals, another replica of fewer, if of any. `None` also for a read of the past.
    pub remaining: Option<Duration>,
}

/// Members in a list, all at one revision, ordered by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberPage {
    /// The replica that answered, and the revision of all pages of this list.
    pub header: Header,
    /// The members.
    pub items: Vec<MemberItem>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// A member in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberItem {
    /// The member.
    pub member: Member,
    /// How much log time it has left, as in [`MemberView::remaining`].
    pub remaining: Option<Duration>,
}

messages! {
    v1::MembershipGetResponse = MemberView {
        header = header,
        member = member,
        remaining = remaining_ms,
    }
    v1::MembershipListResponse = MemberPage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::MemberListItem = MemberItem {
        member = member,
        remaining = remaining_ms,
    }
}
