//! `Expire`: the leader names what it found past its deadline; apply checks each against this entry's own log time.
//!
//! What was renewed earlier in the log is not removed: the renewal wins by order.

use std::collections::BTreeSet;

use synod_model::{Epoch, MemberId, Refusal, SessionId};

use super::{departure, succession};
use crate::turn::Turn;
use crate::{Answer, Expire, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, expire: &Expire) -> Result<Answer, Refusal> {
    let is_due = |holder: &Holder| turn.state().deadlines.is_due(holder, turn.log_time());
    let holds = |id: &MemberId, epoch: &Epoch| {
        turn.state()
            .members
            .get(id)
            .is_some_and(|member| member.epoch == *epoch)
    };
    let gone: BTreeSet<MemberId> = expire
        .members
        .iter()
        .filter(|(id, epoch)| holds(id, epoch) && is_due(&Holder::Member(id.clone())))
        .map(|(id, _)| id.clone())
        .collect();
    let unreported: BTreeSet<MemberId> = expire
        .unreported
        .iter()
        .filter(|(id, epoch)| {
            holds(id, epoch) && !gone.contains(id) && is_due(&Holder::Unreported(id.clone()))
        })
        .map(|(id, _)| id.clone())
        .collect();
    let sessions: Vec<SessionId> = expire
        .sessions
        .iter()
        .filter(|id| turn.state().sessions.contains_key(*id) && is_due(&Holder::Session(**id)))
        .copied()
        .collect();
    // All entries go before any agreement is recomputed: what stands between two of them never was.
    let entries_of: BTreeSet<MemberId> = gone.union(&unreported).cloned().collect();
    departure::remove_entries(turn, &entries_of, departure::Drain::Running);
    for id in &gone {
        turn.remove_member(id);
    }
    for id in &unreported {
        turn.clear_deadline(&Holder::Unreported(id.clone()));
    }
    for id in &sessions {
        turn.remove_session(*id);
    }
    let ended = succession::expire(turn, expire, &gone);
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Ok(Answer::Expired {
        members: count(gone.len()),
        sessions: count(sessions.len()),
        unreported: count(unreported.len()),
        leases: count(ended.leases),
        waiters: count(ended.waiters),
        candidates: count(ended.candidates),
    })
}
