//! Rosters: which members must have an entry for a resource before the members can agree on it.
//!
//! Agreement is among the members that report. Only an operator knows who else writes the resource, and names them in a
//! roster. While a member that the roster asks for is missing, there is no agreement, no migration and no safe answer.

use std::collections::BTreeSet;
use std::fmt;

use crate::limits::{ABSENT_NAMED_MAX, ROSTER_MEMBERS_MAX};
use crate::settings::MEMBERS_MAX;
use crate::{LabelSelector, Member, MemberId, Metadata, ResourceScope, Violation, Violations};

/// A roster, as readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// The resources that it covers. Of the rosters that cover a resource, the narrowest alone counts.
    pub scope: ResourceScope,
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// Which members must have an entry.
    pub rule: RosterRule,
}

/// Which members must have an entry. All three requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosterRule {
    /// These members must have an entry for the resource.
    pub members: BTreeSet<MemberId>,
    /// Every member with such labels must have an entry, and there must be at least one such member; empty: no
    /// requirement.
    pub labels: LabelSelector,
    /// At least this many members must have an entry, counted among those with such labels unless `labels` is empty.
    pub least: u32,
    /// Whether an operator vouches that no server outside of the live members writes the resources, now or later.
    pub complete: bool,
    /// Whether resources that were never reported, and are only observed, are left out, as if no roster covered them.
    pub exempts_observed: bool,
}

impl RosterRule {
    /// The broken rules of the roster that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.members.is_empty() && self.labels.is_empty() && self.least == 0 {
            let rule = "must ask for members, labels or a least number: a roster that asks for nobody is deleted";
            violations.push(Violation::required(rule).at("members"));
        }
        let named = self.members.len();
        if named > ROSTER_MEMBERS_MAX {
            violations.push(Violation::too_many(named, ROSTER_MEMBERS_MAX).at("members"));
        }
        if u64::from(self.least) > MEMBERS_MAX.max {
            let rule = format_args!("must be at most {}", MEMBERS_MAX.max);
            violations.push(Violation::invalid(&self.least.to_string(), rule).at("least"));
        }
        violations
    }

    /// Whether it asks for members by their labels, so that it must be evaluated again when a member comes, goes or
    /// changes.
    pub fn asks_by_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether a server can be missing that the roster cannot notice: one that never joins and that it does not name. An
    /// operator that vouches for `complete` excludes it.
    pub fn may_miss(&self) -> bool {
        let names_all = !self.members.is_empty() && self.least as usize <= self.members.len();
        !self.complete && (self.asks_by_labels() || !names_all)
    }

    /// Describes which missing servers the roster can notice and which it cannot.
    pub fn notices(&self) -> String {
        let mut noticed = Vec::new();
        if !self.members.is_empty() {
            noticed.push("each member that it names and that has no entry".to_owned());
        }
        if self.asks_by_labels() {
            let labels = &self.labels;
            noticed.push(format!(
                "each member with labels `{labels}` that has joined and has no entry"
            ));
        }
        if self.least > 0 {
            noticed.push(format!(
                "that fewer than {} members have an entry",
                self.least
            ));
        }
        let noticed = noticed.join(", and ");
        let unnoticed = if self.complete {
            "an operator vouches that no other server writes"
        } else if self.may_miss() {
            "it cannot notice a server that never joins, so answers assume that there is none (`roster-may-miss`)"
        } else {
            "a server that it does not name is taken not to write"
        };
        format!("it notices {noticed}; {unnoticed}")
    }

    /// Whether it may ask for a member that `before` did not ask for. Other labels always count as asking for more.
    pub fn asks_more_than(&self, before: &Self) -> bool {
        let has_other_labels = self.asks_by_labels() && self.labels != before.labels;
        !self.members.is_subset(&before.members)
            || has_other_labels
            || self.least > before.least
            || (before.exempts_observed && !self.exempts_observed)
    }

    /// The members that are missing for a resource. `speaks` tells whether a member has an entry, and `speaking`
    /// members do.
    ///
    /// `members` are all members. The cost is a step for each of them if the rule asks by labels, else a step for each
    /// member that it names.
    pub fn absent<'a>(
        &'a self,
        speaking: usize,
        speaks: impl Fn(&MemberId) -> bool,
        members: impl Iterator<Item = &'a Member>,
    ) -> Absent {
        let mut absent = Absent::default();
        for id in self.members.iter().filter(|id| !speaks(id)) {
            absent.name(id);
        }
        let counted = if self.asks_by_labels() {
            let mut counted = 0;
            for member in members.filter(|member| self.labels.matches(&member.labels)) {
                if speaks(&member.id) {
                    counted += 1;
                } else if !self.members.contains(&member.id) {
                    absent.name(&member.id);
                }
            }
            counted
        } else {
            speaking
        };
        let least = self.least.max(u32::from(self.asks_by_labels()));
        absent.short = least.saturating_sub(u32::try_from(counted).unwrap_or(u32::MAX));
        if absent.short > 0 {
            absent.labels = self.labels.clone();
        }
        absent
    }
}

/// The members that are missing for a resource by its roster; empty if it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Absent {
    /// Members that are asked for and have no entry, up to [`ABSENT_NAMED_MAX`] of them.
    pub members: BTreeSet<MemberId>,
    /// How many more such members there are.
    pub unnamed: u32,
    /// How many more entries there must be, of any members with `labels`.
    pub short: u32,
    /// The labels that those members must have; empty: any.
    pub labels: LabelSelector,
}

impl Absent {
    /// Whether nobody is missing.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.unnamed == 0 && self.short == 0
    }

    /// Adds who is missing by another roster for the same objects.
    pub fn join(&mut self, other: Self) {
        for id in other
            .members
            .iter()
            .filter(|id| !self.members.contains(*id))
            .cloned()
            .collect::<Vec<_>>()
        {
            self.name(&id);
        }
        self.unnamed = self.unnamed.max(other.unnamed);
        if other.short > self.short {
            (self.short, self.labels) = (other.short, other.labels);
        }
    }

    /// Who is missing, in words, with at most `shown` members by name.
    pub fn sentence(&self, shown: usize) -> String {
        let mut parts = Vec::new();
        if !self.members.is_empty() {
            let named = self.members.iter().take(shown).map(MemberId::as_str);
            let named = named.collect::<Vec<_>>().join(", ");
            let hidden = self.members.len().saturating_sub(shown);
            parts.push(match hidden.saturating_add(self.unnamed as usize) {
                0 => named,
                more => format!("{named} + {more} more"),
            });
        }
        match (self.short, self.labels.is_empty()) {
            (0, _) => {}
            (short, true) => {
                let members = if short == 1 { "member" } else { "members" };
                parts.push(format!(
                    "{short} more {members} of any labels, to reach the required minimum"
                ));
            }
            (short, false) => parts.push(format!("{short} more with labels `{}`", self.labels)),
        }
        parts.join(", and ")
    }

    fn name(&mut self, id: &MemberId) {
        if self.members.len() < ABSENT_NAMED_MAX {
            self.members.insert(id.clone());
        } else {
            self.unnamed += 1;
        }
    }
}

impl fmt::Display for Absent {
    /// Who is missing, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.sentence(usize::MAX))
    }
}

#[cfg(test)]
mod tests;
