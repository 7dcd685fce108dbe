//! Rosters as they are read, and what is answered to those who set them.

use synod_model::Roster;
use synod_proto::{messages, v1};

use super::Header;

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

messages! {
    v1::RostersGetResponse = RosterView {
        header = header,
        roster = roster,
    }
    v1::RostersListResponse = RosterPage {
        header = header,
        items = rosters,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::RostersSetResponse = RosterChanged {
        header = header,
        changed = changed,
        roster = roster,
    }
}
