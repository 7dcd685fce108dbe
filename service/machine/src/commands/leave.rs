//! `Leave`: removes a member with everything that depends on it, at its own request or because somebody else evicts it.
//!
//! The process of an evicted member may not know of it: until its proof of membership ends it goes on writing, a voter also
//! what is selected later.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{EVIDENCE_SINCE, ErrorKind, Leave, LogTime, Member, Refusal};

use super::departure::Drain;
use super::{departure, returns, succession};
use crate::turn::Turn;
use crate::{Answer, Holder, State};

pub(crate) fn apply(turn: &mut Turn<'_>, leave: &Leave) -> Result<Answer, Refusal> {
    let state = turn.state();
    let is_gone = !state.members.contains_key(&leave.member);
    if leave.stopped && is_gone && state.machine_version >= EVIDENCE_SINCE {
        return returns::vouch(turn, leave);
    }
    let member = state.fenced(&leave.member, leave.epoch)?;
    check_instance(member, leave)?;
    let gone = BTreeSet::from([leave.member.clone()]);
    let drain = drain(turn.state(), leave);
    departure::remove_entries(turn, &gone, &gone, &BTreeMap::new(), drain);
    departure::remove_members(turn, &gone, drain);
    succession::free_of_member(turn, &leave.member);
    Ok(Answer::Done)
}

/// Refuses an instance that does not speak for the member.
fn check_instance(member: &Member, leave: &Leave) -> Result<(), Refusal> {
    let Some(named) = leave.instance.as_ref().filter(|it| **it != member.instance) else {
        return Ok(());
    };
    let message = format!(
        "member \"{}\": instance {} speaks for it, not {named}: leave out the instance to evict it",
        leave.member, member.instance
    );
    Err(Refusal::new(ErrorKind::Conflict, message).with("member", &leave.member))
}

fn drain(state: &State, leave: &Leave) -> Drain {
    let evicts = leave.evicts() && state.machine_version >= EVIDENCE_SINCE;
    if leave.drained && !evicts && state.is_gated(&leave.member) {
        // A member that says so has no open permit: no write that it began can still arrive.
        Drain::Done
    } else if !evicts {
        Drain::Leaving
    } else if leave.stopped {
        Drain::SaidStopped(promised(state, leave))
    } else {
        Drain::Until(promised(state, leave))
    }
}

/// The log time until which a write of the member's process may land that does not know that the member is gone.
fn promised(state: &State, leave: &Leave) -> LogTime {
    let holder = Holder::Member(leave.member.clone());
    let promised = state.deadlines.promised(&holder, state.log_time);
    let promised = promised.expect("every member has a deadline");
    promised.after(state.settings.write_grace)
}
