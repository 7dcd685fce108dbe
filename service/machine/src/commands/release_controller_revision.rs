//! `ReleaseControllerRevision`: an owner lets a snapshot go, which stays.

use synod_model::{LiveMarks, Refusal, ReleaseControllerRevision};

use super::controller_history::found;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    release: &ReleaseControllerRevision,
) -> Result<Answer, Refusal> {
    let state = turn.state();
    // What is gone, or belongs to another by now, is released already.
    let controlled = state
        .controller_revisions
        .get(&release.key)
        .is_some_and(|kept| kept.row.controller_uid() == Some(release.owner));
    if !controlled {
        return Ok(Answer::Done);
    }
    let mut row = (**found(state, &release.key, &release.preconditions)?).clone();
    row.controller = None;
    // Whoever adopts it says anew whether it is in use.
    row.marks = LiveMarks::default();
    row.metadata.resource_version = turn.revision();
    turn.put_controller_revision(row);
    Ok(Answer::Done)
}
