//! `DeleteControllerRevisions`: deletes one snapshot, or all of an owner, live or not.

use synod_model::{DeleteControllerRevisions, Refusal};

use super::controller_history::{Draft, found};
use crate::Answer;
use crate::outcome::HistoryAnswer;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    delete: &DeleteControllerRevisions,
) -> Result<Answer, Refusal> {
    let answer = match delete {
        DeleteControllerRevisions::One { key, preconditions } => {
            found(turn.state(), key, preconditions)?;
            turn.remove_controller_revision(key);
            HistoryAnswer {
                deleted: 1,
                ..HistoryAnswer::default()
            }
        }
        DeleteControllerRevisions::HistoryOf { namespace, owner } => {
            let mut draft = Draft::controlled(turn.state(), namespace, *owner);
            draft.delete_all();
            draft.carry_out(turn)
        }
    };
    Ok(Answer::ControllerHistory(answer))
}
