use synod_model::{
    Absent, LabelSelector, Labels, MemberId, Metadata, ResourceScope, Roster, RosterRule,
    Violation, Violations,
};

use crate::fields::{list, required, sound};
use crate::v1;

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
            rule: Some((&roster.rule).into()),
        }
    }
}

impl TryFrom<v1::Roster> for Roster {
    type Error = Violations;

    fn try_from(pb: v1::Roster) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let scope = found.parsed("scope", ResourceScope::parse(&pb.scope));
        let metadata = Metadata::try_from(&pb.metadata.unwrap_or_default());
        let metadata = found.parsed("metadata", metadata);
        let rule = found.parsed("rule", rule(pb.rule));
        match (scope, metadata, rule) {
            (Some(scope), Some(metadata), Some(rule)) => sound(
                Self {
                    scope,
                    metadata,
                    rule,
                },
                found,
            ),
            _ => Err(found),
        }
    }
}

impl From<&RosterRule> for v1::RosterRule {
    fn from(rule: &RosterRule) -> Self {
        Self {
            members: rule.members.iter().map(ToString::to_string).collect(),
            label_selector: rule.labels.to_string(),
            least: rule.least,
        }
    }
}

/// Reads a field that says who must speak.
pub(crate) fn rule(pb: Option<v1::RosterRule>) -> Result<RosterRule, Violations> {
    let pb = required(pb, "must say who must speak")?;
    let mut found = Violations::new();
    let members = list(pb.members, |id| MemberId::parse(&id));
    let members: Option<Vec<MemberId>> = found.parsed("members", members);
    let labels = found.parsed("labelSelector", LabelSelector::parse(&pb.label_selector));
    let (Some(members), Some(labels)) = (members, labels) else {
        return Err(found);
    };
    let mut rule = RosterRule {
        labels,
        least: pb.least,
        ..RosterRule::default()
    };
    for (i, id) in members.into_iter().enumerate() {
        if rule.members.contains(&id) {
            found.push(Violation::duplicate(id.as_str()).at(&format!("members[{i}]")));
        }
        rule.members.insert(id);
    }
    sound(rule, found)
}

impl From<&Absent> for v1::AbsentMembers {
    fn from(absent: &Absent) -> Self {
        Self {
            members: absent.members.iter().map(ToString::to_string).collect(),
            unnamed: absent.unnamed,
            short: absent.short,
            label_selector: absent.labels.to_string(),
            message: absent.to_string(),
        }
    }
}

impl TryFrom<v1::AbsentMembers> for Absent {
    type Error = Violations;

    fn try_from(pb: v1::AbsentMembers) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let members = list(pb.members, |id| MemberId::parse(&id));
        let members = found.parsed::<_, Violations>("members", members);
        let labels = LabelSelector::parse(&pb.label_selector);
        let labels = found.parsed("labelSelector", labels);
        let (Some(members), Some(labels)) = (members, labels) else {
            return Err(found);
        };
        Ok(Self {
            members,
            unnamed: pb.unnamed,
            short: pb.short,
            labels,
        })
    }
}
