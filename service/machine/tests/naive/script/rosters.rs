//! Commands on rosters.

use synod_machine::{Command, State};
use synod_model::{
    DeleteRoster, LabelSelector, MemberId, ResourceScope, Revision, RosterRule, SetRoster,
};

use super::LEGAL;
use super::entries::{member, resource};
use crate::calls::{Asked, MEMBERS, Roll};

pub(super) fn roll(roll: &Roll, state: &State) -> Command {
    let scope = scope(roll.scope);
    let present = state.present().roster(&scope);
    let same = present.as_ref().map(|roster| roster.rule.clone());
    let present = present.map_or(Revision::ZERO, |roster| roster.metadata.resource_version);
    let if_revision = roll.expects.map(|right| match right {
        true => present,
        false => present.next(),
    });
    match &roll.rule {
        Some(asked) => Command::SetRoster(SetRoster {
            scope,
            // A rule that asks for no one is replaced by the present one.
            rule: same.filter(|_| is_nobody(asked)).unwrap_or_else(|| {
                let exempts_observed = asked.members.is_multiple_of(3) && roll.scope == 0;
                RosterRule {
                    exempts_observed,
                    ..rule(asked)
                }
            }),
            if_revision,
        }),
        None => Command::DeleteRoster(DeleteRoster { scope, if_revision }),
    }
}

fn is_nobody(asked: &Asked) -> bool {
    asked.members == 0 && asked.release.is_none() && asked.least == 0
}

/// Wide scopes first.
fn scope(which: usize) -> ResourceScope {
    let group = |name| ResourceScope::group(name).expect(LEGAL);
    match which {
        0 => ResourceScope::All,
        1 => group(""),
        2 => group("batch"),
        one => ResourceScope::Resource(resource(one - 3)),
    }
}

fn rule(asked: &Asked) -> RosterRule {
    let named = (0..MEMBERS).filter(|who| asked.members & (1 << who) != 0);
    let mut members: std::collections::BTreeSet<MemberId> = named.map(member).collect();
    if asked.crowd {
        members.extend((50..70).map(member));
    }
    let labels = asked.release.map(|release| format!("release=r{release}"));
    let is_empty = members.is_empty() && labels.is_none();
    RosterRule {
        members,
        labels: LabelSelector::parse(&labels.unwrap_or_default()).expect(LEGAL),
        // The protocol refuses a roster that asks for no one.
        least: asked.least.max(u32::from(is_empty)),
        complete: asked.members.is_multiple_of(2),
        exempts_observed: false,
    }
}
