//! Lists what every answer about a resource assumes.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::{Assumption, Roster};

use crate::StateStatus;

/// The assumptions of every answer about a resource with this storage state and these rosters in force. The success of a
/// migration rests on the same.
pub(crate) fn standing_assumptions(
    status: Option<&StateStatus>,
    rosters: &[Arc<Roster>],
) -> BTreeSet<Assumption> {
    let is_on_trust = match status {
        Some(status) => status.on_trust.is_some(),
        None => rosters.is_empty(),
    };
    let is_old = status.is_some_and(|status| status.concluded_before.is_some());
    let stored = [
        (Assumption::NoRoster, is_on_trust),
        (Assumption::ConcludedBefore, is_old),
    ];
    let stored = stored.into_iter().filter(|(_, is_made)| *is_made);
    let stored = stored.map(|(assumption, _)| assumption);
    stored
        .chain(assumptions_about_writers(status, rosters))
        .collect()
}

/// The assumptions of an answer about what members encode now, which rests on nothing that is stored: a roster counts from the
/// moment that it is set.
pub(crate) fn agreement_assumptions(
    status: Option<&StateStatus>,
    rosters: &[Arc<Roster>],
) -> BTreeSet<Assumption> {
    let without_roster = rosters.is_empty().then_some(Assumption::NoRoster);
    let writers = assumptions_about_writers(status, rosters);
    without_roster.into_iter().chain(writers).collect()
}

fn assumptions_about_writers(
    status: Option<&StateStatus>,
    rosters: &[Arc<Roster>],
) -> impl Iterator<Item = Assumption> {
    let was_vouched_for = status.is_some_and(|status| !status.said_stopped.is_empty());
    let was_away = status.is_some_and(|status| !status.short_absences.is_empty());
    let writes_on =
        status.is_some_and(|status| status.more_ungated_gone || !status.ungated_gone.is_empty());
    let may_miss = rosters.iter().any(|roster| roster.rule.may_miss());
    let all = [
        (Assumption::SaidStopped, was_vouched_for),
        (Assumption::RosterMayMiss, may_miss),
        (Assumption::ShortAbsence, was_away),
        (Assumption::UngatedGone, writes_on),
    ];
    let made = all.into_iter().filter(|(_, is_made)| *is_made);
    made.map(|(assumption, _)| assumption)
}

/// The members that the assumptions about a resource are made of, each in words.
pub(crate) fn assumed_members(status: &StateStatus) -> impl Iterator<Item = (Assumption, String)> {
    let away = status.short_absences.iter().map(|(member, absence)| {
        let words = format!("{member} was away for {} s", absence.away.as_secs());
        (Assumption::ShortAbsence, words)
    });
    let ungated = status.ungated_gone.keys();
    let ungated = ungated.map(|member| (Assumption::UngatedGone, member.to_string()));
    let stopped = status.said_stopped.keys();
    let stopped = stopped.map(|member| (Assumption::SaidStopped, member.to_string()));
    away.chain(ungated).chain(stopped)
}
