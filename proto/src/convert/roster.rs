use std::collections::BTreeSet;

use synod_model::{Absent, Labels, ResourceScope, Roster, RosterRule, Violation, Violations};

use crate::wire::{Wire, sound};
use crate::{messages, read_fields, v1};

messages! {
    v1::RosterRule = RosterRule: "must say who must speak" {
        members = members by distinct,
        labels = label_selector,
        least = least,
        complete = complete,
        exempts_observed = exempts_observed,
    }
}

/// A set whose items must not be given twice.
pub(crate) mod distinct {
    use super::*;

    pub(crate) fn write<P, T: Wire<P>>(items: &BTreeSet<T>) -> Vec<P> {
        items.iter().map(Wire::to_wire).collect()
    }

    pub(crate) fn read<P, T: Wire<P> + Ord + ToString>(
        pb: Vec<P>,
    ) -> Result<BTreeSet<T>, Violations> {
        let items = Vec::of_wire(pb)?;
        let mut found = Violations::new();
        let mut distinct = BTreeSet::new();
        for (i, item) in items.into_iter().enumerate() {
            let text: String = T::to_string(&item);
            if !distinct.insert(item) {
                found.push(Violation::duplicate(&text).at(&format!("[{i}]")));
            }
        }
        sound(distinct, found)
    }
}

impl From<&Roster> for v1::Roster {
    fn from(roster: &Roster) -> Self {
        let name = roster.scope.to_string();
        Self {
            metadata: Some(v1::Metadata::of(
                name.clone(),
                &Labels::default(),
                &roster.metadata,
            )),
            scope: name,
            rule: roster.rule.to_wire(),
            may_miss: roster.rule.may_miss(),
            notices: roster.rule.notices(),
        }
    }
}

impl TryFrom<v1::Roster> for Roster {
    type Error = Violations;

    fn try_from(pb: v1::Roster) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            scope = scope => ResourceScope::of_wire(pb.scope),
            metadata = metadata,
            rule = rule,
        }
        Ok(Self {
            scope,
            metadata,
            rule,
        })
    }
}

impl From<&Absent> for v1::AbsentMembers {
    fn from(absent: &Absent) -> Self {
        Self {
            members: absent.members.to_wire(),
            unnamed: absent.unnamed,
            short: absent.short,
            label_selector: absent.labels.to_wire(),
            message: absent.to_string(),
        }
    }
}

impl TryFrom<v1::AbsentMembers> for Absent {
    type Error = Violations;

    fn try_from(pb: v1::AbsentMembers) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            members = members,
            labels = label_selector,
        }
        Ok(Self {
            members,
            unnamed: pb.unnamed,
            short: pb.short,
            labels,
        })
    }
}
