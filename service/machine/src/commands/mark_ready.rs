//! `MarkReady`: moves a member from joining to ready: it begins to serve.

use synod_model::{MarkReady, Member, Phase, Refusal};

use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, ready: &MarkReady) -> Result<Answer, Refusal> {
    let member = turn.state().fenced(&ready.member, ready.epoch)?;
    if member.phase == Phase::Ready {
        return Ok(Answer::Done);
    }
    let mut member = Member {
        phase: Phase::Ready,
        ..(**member).clone()
    };
    member.metadata.resource_version = turn.revision();
    turn.put_member(member);
    Ok(Answer::Done)
}
