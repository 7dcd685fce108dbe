//! The answers about rosters.

use synod_model::Roster;
use synod_proto::{messages, v1};

use super::Header;

/// One roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The roster.
    pub roster: Roster,
}

/// Rosters in a list, all at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterPage {
    /// The replica that answered, and the revision of all pages of this list.
    pub header: Header,
    /// The rosters: that of all resources, then those of groups, then those of single resources, each by name.
    pub items: Vec<Roster>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// The answer to setting a roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterChanged {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// False if nothing had to be changed.
    pub changed: bool,
    /// The roster. `None` in the answer to a retry so late that its revision is no longer kept.
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
