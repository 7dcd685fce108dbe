//! `TruncateControllerRevisions`: deletes the oldest snapshots that are not in use.

use synod_model::{Refusal, TruncateControllerRevisions};

use super::controller_history::Draft;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    truncate: &TruncateControllerRevisions,
) -> Result<Answer, Refusal> {
    let mut draft = Draft::adopting(turn.state(), &truncate.history)?;
    draft.check_newest(truncate.if_newest)?;
    draft.truncate(truncate.limit, None);
    Ok(Answer::ControllerHistory(draft.carry_out(turn)))
}
