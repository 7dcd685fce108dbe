//! `Leave`: removes a member at its own request, with everything that depends on it.

use std::collections::BTreeSet;

use synod_model::{Leave, Refusal};

use super::{departure, succession};
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, leave: &Leave) -> Result<Answer, Refusal> {
    turn.state().fenced(&leave.member, leave.epoch)?;
    // A member that says so has no open permit: no write that it began can still arrive.
    let drain = if leave.drained {
        departure::Drain::Done
    } else {
        departure::Drain::Running
    };
    let gone = BTreeSet::from([leave.member.clone()]);
    departure::remove_entries(turn, &gone, &gone, &BTreeSet::new(), drain);
    departure::remove_members(turn, &gone);
    succession::free_of_member(turn, &leave.member);
    Ok(Answer::Done)
}
