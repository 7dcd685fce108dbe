//! The operator, who sets and deletes rosters.

use rand::RngExt;
use synod_client::{DeleteRoster, LabelSelector, ResourceScope, RosterRule, SetRoster};

use super::speaker::LABEL;
use super::{Participant, SPEAKERS, member, rolls, until_done};

/// Sometimes more members than there are.
const LEAST: std::ops::RangeInclusive<u32> = 2..=4;

/// Sets and deletes rosters until the rollout is over. The last roster requires all speakers.
pub(super) async fn run(mut operator: Participant) {
    let rosters = operator.client.rosters();
    let scopes = [
        ResourceScope::Resource(rolls()),
        ResourceScope::group(rolls().group()).unwrap(),
    ];
    while !operator.is_over() {
        operator.pause(100..1_200).await;
        let scope = scopes[operator.rng.random_range(0..scopes.len())].clone();
        let rule = match operator.rng.random_range(0..5) {
            0 => everybody(),
            1 => RosterRule {
                least: operator.rng.random_range(LEAST),
                ..RosterRule::default()
            },
            2 => RosterRule {
                labels: LabelSelector::parse(LABEL).unwrap(),
                ..RosterRule::default()
            },
            _ => {
                let if_revision = None;
                let deleted = rosters.delete(DeleteRoster { scope, if_revision }).await;
                operator
                    .trace
                    .add(format_args!("a roster is deleted: {deleted:?}"));
                continue;
            }
        };
        let set = rosters.set(roster(scope, rule)).await;
        operator.trace.add(format_args!("a roster is set: {set:?}"));
    }
    until_done(|| rosters.set(roster(scopes[0].clone(), everybody()))).await;
}

fn roster(scope: ResourceScope, rule: RosterRule) -> SetRoster {
    SetRoster {
        scope,
        rule,
        if_revision: None,
    }
}

fn everybody() -> RosterRule {
    RosterRule {
        members: SPEAKERS.map(member).into(),
        ..RosterRule::default()
    }
}
