//! `MarkControllerRevisions`: which snapshots of a history are in use.

use std::collections::BTreeSet;

use synod_model::limits::{MARKERS_MAX, REVISION_BYTES_MARKED_MAX};
use synod_model::{
    ControllerRevision, ErrorKind, InUse, Mark, MarkControllerRevisions, ObjectName, Refusal,
};

use super::controller_history::{Draft, not_found};
use crate::Answer;
use crate::controller_revisions::key;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    marking: &MarkControllerRevisions,
) -> Result<Answer, Refusal> {
    let mut draft = Draft::controlled(
        turn.state(),
        &marking.history.namespace,
        marking.history.owner.uid,
    );
    let there: BTreeSet<&str> = draft.rows().map(|row| row.key.name()).collect();
    let absent = named(marking).find(|name| !there.contains(name.as_str()));
    if let Some(name) = absent {
        return Err(not_found(&key(&marking.history.namespace, name)));
    }
    draft.change(|row| mark(row, marking));
    if let Some(row) = draft
        .rows()
        .find(|row| row.marks.in_use.len() > MARKERS_MAX)
    {
        let message = format!(
            "ControllerRevision \"{}\": {MARKERS_MAX} others say that they use it, which is the most there can be",
            row.key
        );
        return Err(Refusal::new(ErrorKind::Quota, message));
    }
    let bytes = draft.bytes_changed();
    if bytes > REVISION_BYTES_MARKED_MAX {
        let message = format!(
            "the marks change ControllerRevisions of {bytes} bytes, and {REVISION_BYTES_MARKED_MAX} are the most: name fewer that are new to the mark, then the others"
        );
        return Err(Refusal::new(ErrorKind::TooLarge, message));
    }
    draft.carry_out(turn);
    Ok(Answer::Done)
}

fn named(marking: &MarkControllerRevisions) -> impl Iterator<Item = &ObjectName> {
    let marks = [&marking.current, &marking.update].into_iter().flatten();
    let on = marks.filter_map(|mark| match mark {
        Mark::On(name) => Some(name),
        Mark::Nowhere => None,
    });
    let in_use = marking.in_use.iter().flat_map(|in_use| &in_use.names);
    on.chain(in_use)
}

fn mark(row: &mut ControllerRevision, marking: &MarkControllerRevisions) {
    let name = row.name();
    let is_on = |mark: &Mark| *mark == Mark::On(name.clone());
    if let Some(current) = &marking.current {
        row.marks.current = is_on(current);
    }
    if let Some(update) = &marking.update {
        row.marks.update = is_on(update);
    }
    if let Some(InUse { marker, names }) = &marking.in_use {
        if names.contains(&name) {
            row.marks.in_use.insert(marker.clone());
        } else {
            row.marks.in_use.remove(marker);
        }
    }
}
