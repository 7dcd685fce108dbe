//! The requests that set and delete rosters.

use crate::{ResourceScope, Revision, RosterRule, Violation, Violations};

/// Sets which members must have an entry for the resources of a scope. It replaces the roster of
/// that scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRoster {
    /// The scope of the roster.
    pub scope: ResourceScope,
    /// The rule of the roster.
    pub rule: RosterRule,
    /// Only if the roster was last changed at this revision; zero: only if there is none.
    pub if_revision: Option<Revision>,
}

impl SetRoster {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = self.rule.check();
        if self.rule.exempts_observed && self.scope != ResourceScope::All {
            let rule = "only the roster of `*` may leave out resources that are only observed";
            violations.push(Violation::invalid("true", rule).at("exemptsObserved"));
        }
        violations.at("rule")
    }
}

/// Deletes the roster of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteRoster {
    /// The scope of the roster.
    pub scope: ResourceScope,
    /// Only if the roster was last changed at this revision.
    pub if_revision: Option<Revision>,
}
