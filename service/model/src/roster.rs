//! Rosters: who must speak for a resource before anything that is said of it counts.
//!
//! Agreement is among those who take part. Who else writes the resource, only an operator can say: a roster says it, and
//! while one that it asks for is missing there is no agreement, no migration and no safe answer.

use std::collections::BTreeSet;
use std::fmt;

use crate::limits::{ABSENT_NAMED_MAX, ROSTER_MEMBERS_MAX};
use crate::settings::MEMBERS_MAX;
use crate::{LabelSelector, Member, MemberId, Metadata, ResourceScope, Violation, Violations};

/// A roster, as readers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    /// For which resources. Of the rosters that cover a resource, the narrowest alone counts.
    pub scope: ResourceScope,
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// Who must speak.
    pub rule: RosterRule,
}

/// Who must speak. All that it asks for must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RosterRule {
    /// These members must have an entry for the resource.
    pub members: BTreeSet<MemberId>,
    /// Every member with such labels must have an entry, and there must be one; empty: none need.
    pub labels: LabelSelector,
    /// At least so many must have an entry: of the members with such labels, if any are asked for.
    pub least: u32,
}

impl RosterRule {
    /// What is wrong with its shape.
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

    /// Whether it asks for members by their labels, so that it has to be looked at when one comes, goes or changes.
    pub fn asks_by_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether it asks for anybody whom the one before did not ask for; at the least, where labels tell no more.
    pub fn asks_more_than(&self, before: &Self) -> bool {
        let has_other_labels = self.asks_by_labels() && self.labels != before.labels;
        !self.members.is_subset(&before.members) || has_other_labels || self.least > before.least
    }

    /// Who is missing of a resource for which those speak of whom `speaks` says so, `speaking` in all.
    ///
    /// `members` are all that there are. Costs a step for each of them where it asks by labels, else one for each member
    /// that it names.
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

/// Who is missing of a resource, by its roster. Nobody, where it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Absent {
    /// Members that are asked for and have no entry, as many as are named.
    pub members: BTreeSet<MemberId>,
    /// How many more of them there are.
    pub unnamed: u32,
    /// How many more entries there must be, of whichever members.
    pub short: u32,
    /// The labels of those members; empty: whoever they are.
    pub labels: LabelSelector,
}

impl Absent {
    /// Whether nobody is missing.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.unnamed == 0 && self.short == 0
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
            (short, true) => parts.push(format!("{short} more of the least number")),
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
