//! Rosters as they are read, and what is answered to those who set them.

use synod_model::{Roster, Violations};
use synod_proto::v1;

use super::wire::{list, required};
use super::{FromWire, Header};

/// One roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The roster.
    pub roster: Roster,
}

/// Rosters in a list, all at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterPage {
    /// Who answered, and the revision of all pages of this list.
    pub header: Header,
    /// The rosters: that of all resources, those of groups, those of one resource, each by name.
    pub items: Vec<Roster>,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
    pub inconsistent: bool,
}

/// A roster was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterChanged {
    /// Who answered, and at which revision.
    pub header: Header,
    /// False if it was so already.
    pub changed: bool,
    /// The roster. `None` if this answers a retry so late that its revision is no longer kept.
    pub roster: Option<Roster>,
}

impl FromWire<v1::RostersGetResponse> for RosterView {
    fn from_wire(pb: v1::RostersGetResponse) -> Result<Self, Violations> {
        let roster = required(pb.roster).map_err(|fault| fault.at("roster"))?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            roster: Roster::try_from(roster)?,
        })
    }
}

impl FromWire<v1::RostersListResponse> for RosterPage {
    fn from_wire(pb: v1::RostersListResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            items: list(pb.rosters, Roster::try_from)?,
            inconsistent: pb.inconsistent,
        })
    }
}

impl FromWire<v1::RostersSetResponse> for RosterChanged {
    fn from_wire(pb: v1::RostersSetResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            changed: pb.changed,
            roster: pb.roster.map(Roster::try_from).transpose()?,
        })
    }
}
