//! Removes entries of members that go or do not report again: shared by `Leave` and `Expire`.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{AbortCause, GroupResource, LogTime, MemberId};

use crate::looks::OverdueLooks;
use crate::turn::Turn;
use crate::voting::{Cause, Decided, LateWrites, Occasion, Said, decide};

/// Whether writes of a removed member may still arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drain {
    /// They may, for as long as the setting `write_grace` says, and for ever if it has no gate: it does not say that it goes.
    Running,
    /// They may, for as long as the setting `write_grace` says: it says that it goes.
    Leaving,
    /// They cannot: the member has closed its gate and waited for its permits.
    Done,
    /// They may until this log time, and a voter may follow selections until then: it does not know that it is gone.
    Until(LogTime),
    /// Somebody said that the member's process has stopped: they may for as long as the setting says, and until this log time if
    /// that is not so.
    SaidStopped(LogTime),
}

impl Drain {
    /// Whether the process says that it goes, or somebody says that it has stopped.
    const fn is_told(self) -> bool {
        match self {
            Self::Done | Self::Leaving | Self::SaidStopped(_) => true,
            Self::Running | Self::Until(_) => false,
        }
    }
}

/// Removes the entries of the members. Each resource is evaluated once, however many of the members report it.
///
/// The members that are `gone` are removed after this; no roster asks for them any more. The looks in
/// `lapsing` expire in the same decision, so that an expired observation never becomes the agreement when the last
/// entry goes.
pub(super) fn remove_entries(
    turn: &mut Turn<'_>,
    members: &BTreeSet<MemberId>,
    gone: &BTreeSet<MemberId>,
    lapsing: &BTreeMap<GroupResource, OverdueLooks>,
    drain: Drain,
) {
    let mut dropped: BTreeMap<GroupResource, Vec<&MemberId>> = BTreeMap::new();
    for member in members {
        for resource in turn.state().reported.get(member).into_iter().flatten() {
            let first = turn.state().first_name(resource).into_owned();
            dropped.entry(first).or_default().push(member);
        }
    }
    for (resource, members) in dropped {
        let said: Vec<_> = members
            .iter()
            .map(|member| (*member, drops(turn, member, drain)))
            .collect();
        let occasion = Occasion {
            cause: (members.len() == 1).then(|| Cause::Member(members[0])),
            gone: Some(gone),
            lapses: lapsing.get(&resource),
            ..turn.occasion()
        };
        let decided: Option<Decided> = decide(turn.state(), occasion, &resource, &said)
            .expect("only a report can be refused, and nothing is reported here");
        if let Some(decided) = decided {
            if occasion.lapses.is_some() && !decided.is_reported {
                turn.abort_unfinished(&resource, AbortCause::StorageUnknown);
            }
            turn.carry_out(decided);
        }
    }
}

/// Removes the members, and re-evaluates the rosters that asked for them.
pub(super) fn remove_members(turn: &mut Turn<'_>, gone: &BTreeSet<MemberId>, drain: Drain) {
    let members: Vec<_> = gone
        .iter()
        .map(|id| std::sync::Arc::clone(&turn.state().members[id]))
        .collect();
    for member in &members {
        turn.note_departure(member, drain.is_told());
        turn.remove_member(&member.id);
    }
    let labels: Vec<_> = members.iter().map(|member| &member.labels).collect();
    let one = gone.first().filter(|_| gone.len() == 1);
    turn.follow_labels(one.map(Cause::Member), &labels);
}

fn drops(turn: &Turn<'_>, member: &MemberId, drain: Drain) -> Said<'static> {
    // Entries of a replaced epoch began to drain when it was replaced; the present epoch wrote nothing under them.
    let mut members = turn.state().members.get(member).into_iter();
    let reported = members.any(|member| member.reported);
    let grace = turn.state().write_grace_ends();
    let is_gated = turn.state().is_gated(member);
    let late_writes = match drain {
        _ if !reported => LateWrites::None,
        Drain::Done => LateWrites::None,
        Drain::Running | Drain::Leaving => LateWrites::Until(grace),
        Drain::Until(until) => LateWrites::OfAnySelectionUntil(until),
        Drain::SaidStopped(promised) => LateWrites::SaidToEnd { grace, promised },
    };
    let epoch = turn.state().members.get(member).map(|member| member.epoch);
    let writes_on = epoch.filter(|_| !is_gated && !drain.is_told());
    Said::Drops {
        late_writes,
        writes_on,
    }
}
