//! Members as they are read.

use std::time::Duration;

use synod_model::{Member, Violations};
use synod_proto::v1;

use super::wire::{list, required};
use super::{FromWire, Header};

/// One member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The member.
    pub member: Member,
    /// How much log time it has left: a hint, since a change of leader gives more. `None` for a read of the past.
    pub remaining: Option<Duration>,
}

/// Members in a list, all at one revision, ordered by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberPage {
    /// Who answered, and the revision of all pages of this list.
    pub header: Header,
    /// The members.
    pub items: Vec<MemberItem>,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
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

impl FromWire<v1::MembershipGetResponse> for MemberView {
    fn from_wire(pb: v1::MembershipGetResponse) -> Result<Self, Violations> {
        let item = v1::MemberListItem {
            member: pb.member,
            remaining_ms: pb.remaining_ms,
        };
        let MemberItem { member, remaining } = MemberItem::from_wire(item)?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            member,
            remaining,
        })
    }
}

impl FromWire<v1::MembershipListResponse> for MemberPage {
    fn from_wire(pb: v1::MembershipListResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let items = found.parsed("items", list(pb.items, MemberItem::from_wire));
        match (header, items) {
            (Some(header), Some(items)) => Ok(Self {
                header,
                items,
                inconsistent: pb.inconsistent,
            }),
            _ => Err(found),
        }
    }
}

impl FromWire<v1::MemberListItem> for MemberItem {
    fn from_wire(pb: v1::MemberListItem) -> Result<Self, Violations> {
        let member = required(pb.member).map_err(|fault| fault.at("member"))?;
        Ok(Self {
            member: Member::try_from(member)?,
            remaining: pb.remaining_ms.map(Duration::from_millis),
        })
    }
}
