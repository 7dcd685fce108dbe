//! `Leave`: a member goes by its own wish, and all that hangs on it goes in the same command.

use std::collections::BTreeSet;

use synod_model::{Leave, Refusal};

use super::{departure, succession};
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, leave: &Leave) -> Result<Answer, Refusal> {
    turn.state().fenced(&leave.member, leave.epoch)?;
    // A member that says so has no permit open: nothing that it began can still land.
    let drain = if leave.drained {
        departure::Drain::Done
    } else {
        departure::Drain::Running
    };
    departure::remove_entries(turn, &BTreeSet::from([leave.member.clone()]), drain);
    turn.remove_member(&leave.member);
    succession::free_of_member(turn, &leave.member);
    Ok(Answer::Done)
}
