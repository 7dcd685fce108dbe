//! `ReleaseControllerRevision`: removes an owner's control of a snapshot, which stays.

use synod_model::{LiveMarks, Refusal, ReleaseControllerRevision};

use super::controller_history::found;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    release: &ReleaseControllerRevision,
) -> Result<Answer, Refusal> {
    let state = turn.state();
    // A snapshot that is gone, or belongs to another owner by now, is already released.
    let controlled = state
        .controller_revisions
        .get(&release.key)
        .is_some_and(|kept| kept.row.controller_uid() == Some(release.owner));
    if !controlled {
        return Ok(Answer::Done);
    }
    let mut row = (**found(state, &release.key, &release.preconditions)?).clone();
    row.controller = None;
    // An owner that adopts it marks anew whether it is in use.
    row.marks = LiveMarks::default();
    row.metadata.resource_version = turn.revision();
    turn.put_controller_revision(row);
    Ok(Answer::Done)
}
