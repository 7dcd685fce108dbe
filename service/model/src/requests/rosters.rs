//! Rosters: saying who must speak.

use crate::{ResourceScope, Revision, RosterRule, Violations};

/// Says who must speak for the resources of a scope, in place of whoever had to before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRoster {
    /// For which resources.
    pub scope: ResourceScope,
    /// Who.
    pub rule: RosterRule,
    /// Only if the roster was last changed at this revision; zero: only if there is none.
    pub if_revision: Option<Revision>,
}

impl SetRoster {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        self.rule.check().at("rule")
    }
}

/// Nobody in particular must speak for the resources of a scope any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRoster {
    /// For which resources.
    pub scope: ResourceScope,
    /// Only if the roster was last changed at this revision.
    pub if_revision: Option<Revision>,
}
