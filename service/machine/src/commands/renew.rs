//! `Renew`: moves a member's deadline, and nothing else: no revision, no event, O(1).

use synod_model::{Refusal, Renew};

use crate::turn::Turn;
use crate::{Answer, renewal};

pub(crate) fn apply(turn: &mut Turn<'_>, renew: &Renew) -> Result<Answer, Refusal> {
    let renewal = renewal::of_member(turn.state(), renew)?;
    Ok(turn.renew(renewal))
}
