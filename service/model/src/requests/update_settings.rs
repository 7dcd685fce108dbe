//! The request that changes the replicated settings.

use crate::{Revision, SettingsPatch, Violation, Violations};

/// Gives some of the settings new values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateSettings {
    /// The new values.
    pub patch: SettingsPatch,
    /// Only if the settings were last changed at this revision.
    pub if_revision: Option<Revision>,
}

impl UpdateSettings {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.extend_at("patch", self.patch.check());
        if self.patch.is_empty() {
            let rule = "must name at least one setting";
            violations.push(Violation::required(rule).at("patch"));
        }
        violations
    }
}
