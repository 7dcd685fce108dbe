//! `CloseSession`: forgets a session and its outcomes at once.

use synod_model::{CloseSession, Refusal};

use crate::Answer;
use crate::turn::Turn;

/// Closing a session that does not exist succeeds.
pub(crate) fn apply(turn: &mut Turn<'_>, close: &CloseSession) -> Result<Answer, Refusal> {
    if turn.state().sessions.contains_key(&close.session) {
        turn.remove_session(close.session);
    }
    Ok(Answer::Done)
}
