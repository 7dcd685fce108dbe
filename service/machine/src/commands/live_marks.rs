//! Checks of what marks are tied to: shared by the commands that set marks.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::limits::{TIED_REVISION_BYTES_MAX, TIED_REVISIONS_MAX};
use synod_model::{Current, ErrorKind, MarkTie, Refusal};

use super::controller_history::Draft;
use crate::State;
use crate::controller_revisions::{MarkPost, bytes_of};

/// Refuses to tie a mark to a missing member or object, because it would never be removed.
pub(super) fn check_tie(state: &State, tie: &MarkTie) -> Result<(), Refusal> {
    match tie {
        MarkTie::Renewals(_) => Ok(()),
        MarkTie::Member(id, epoch) => state.fenced(id, *epoch).map(|_| ()),
        MarkTie::Object(key, uid) => {
            let object = state.object(key).ok_or_else(|| key.not_found())?;
            if object.metadata.uid == *uid {
                return Ok(());
            }
            let message = format!(
                "{key} now has uid {}, but the mark was to be tied to uid {uid}: read the object again",
                object.metadata.uid
            );
            let refusal = Refusal::new(ErrorKind::Conflict, message);
            Err(refusal.with_current(Current::Object(Arc::new(object))))
        }
    }
}

/// Refuses more marked snapshots than one command can clear when the tied member or object goes.
pub(super) fn check_tied(state: &State, draft: &Draft, tie: &MarkTie) -> Result<(), Refusal> {
    let Some(post) = MarkPost::of(tie) else {
        return Ok(());
    };
    let drafted: BTreeSet<_> = draft.rows().map(|row| &row.key).collect();
    let others = state.controller_revisions.tied(&post);
    let others = others
        .map(|kept| &*kept.row)
        .filter(|row| !drafted.contains(&row.key));
    let own = draft
        .rows()
        .filter(|row| row.marks.iter().any(|(_, tie)| post.holds(tie)));
    let (count, bytes) = own.chain(others).fold((0, 0), |(count, bytes), row| {
        (count + 1, bytes + bytes_of(row))
    });
    if count <= TIED_REVISIONS_MAX && bytes <= TIED_REVISION_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "{count} ControllerRevisions of {bytes} bytes would lose marks with one member or object, and {TIED_REVISIONS_MAX} of {TIED_REVISION_BYTES_MAX} bytes are the most: mark fewer, or by a TTL"
    );
    Err(Refusal::new(ErrorKind::Quota, message))
}
