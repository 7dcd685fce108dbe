//! `Renew`: moves a member's deadline, and nothing else: no revision, no event, O(1).

use synod_model::{Refusal, Renew};

use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, renew: &Renew) -> Result<Answer, Refusal> {
    let ttl = turn.state().fenced(&renew.member, renew.epoch)?.ttl;
    turn.extend_deadline(Holder::Member(renew.member.clone()), ttl.duration());
    Ok(Answer::Done)
}
