//! The request by which a member reports its versions and votes.

use std::collections::BTreeSet;

use crate::settings::REPORT_ENTRIES_MAX;
use crate::{
    Epoch, ErrorKind, GroupResource, MemberId, Refusal, ReportEntry, StatementNumber, Violation,
    Violations,
};

/// Says which versions a member decodes, serves, and encodes or prefers, for any number of
/// resources at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The member.
    pub member: MemberId,
    /// The epoch of the member.
    pub epoch: Epoch,
    /// The number of this statement among all statements of the member under the epoch.
    pub number: StatementNumber,
    /// The entries, at most one for each resource.
    pub entries: Vec<ReportEntry>,
    /// Whether the member's entries for other resources are removed.
    pub replace: bool,
}

impl Report {
    /// The resources that it names, each once and in their order.
    pub fn named(&self) -> Vec<&GroupResource> {
        let mut named: Vec<_> = self.entries.iter().map(|it| &it.resource).collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// The refusal of the report because the member would report too many `resources`, where `most`
    /// are allowed.
    pub fn too_large(&self, resources: usize, most: u32) -> Refusal {
        let message = format!(
            "entries: member \"{}\" would report {resources} resources, and report_entries_max \
             allows {most}",
            self.member
        );
        let mut refusal = Refusal::new(ErrorKind::TooLarge, message);
        let violation = Violation::too_many(resources, most as usize);
        refusal.violations.push(violation.at("entries"));
        refusal
    }

    /// The broken rules of the request that do not depend on the state. The allowed number of
    /// entries is a setting, which apply checks; this check uses the highest value of that setting.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        let entries_max = REPORT_ENTRIES_MAX.max as usize;
        if self.entries.len() > entries_max {
            let violation = Violation::too_many(self.entries.len(), entries_max);
            violations.push(violation.at("entries"));
        }
        let each_once = self.named().len() == self.entries.len();
        let mut seen = BTreeSet::new();
        for (i, entry) in self.entries.iter().enumerate() {
            entry.check(format_args!("entries[{i}]"), &mut violations);
            if !each_once && !seen.insert(&entry.resource) {
                let duplicate = Violation::duplicate(entry.resource.qualified());
                violations.push(duplicate.at(&format!("entries[{i}].resource")));
            }
        }
        violations
    }
}
