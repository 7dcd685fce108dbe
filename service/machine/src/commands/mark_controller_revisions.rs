//! `MarkControllerRevisions`: sets or renews the marks of snapshots of a history that are in use.

use std::collections::BTreeSet;

use synod_model::limits::{MARKERS_MAX, REVISION_BYTES_MARKED_MAX};
use synod_model::{
    ControllerRevision, ErrorKind, InUse, LiveMark, Mark, MarkControllerRevisions, ObjectName,
    Refusal,
};

use super::controller_history::{Draft, not_found};
use super::live_marks::{check_tie, check_tied};
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
    // A request that only removes marks uses no tie.
    let ties = named(marking).next().is_some();
    if ties {
        check_tie(turn.state(), &marking.tie)?;
    }
    draft.change(|row| mark(row, marking));
    if let Some(row) = draft
        .rows()
        .find(|row| row.marks.in_use().count() > MARKERS_MAX)
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
            "the marks change ControllerRevisions of {bytes} bytes, and {REVISION_BYTES_MARKED_MAX} are the most: \
             change the marks of fewer in one call, and in further calls name those again that stay marked"
        );
        return Err(Refusal::new(ErrorKind::TooLarge, message));
    }
    if ties {
        check_tied(turn.state(), &draft, &marking.tie)?;
    }
    draft.carry_out(turn);
    for (name, mark) in set(marking) {
        turn.renew_mark(&key(&marking.history.namespace, name), &mark);
    }
    Ok(Answer::Done)
}

/// The snapshots that get a mark.
fn named(marking: &MarkControllerRevisions) -> impl Iterator<Item = &ObjectName> {
    set(marking).map(|(name, _)| name)
}

/// The marks to set, each with its snapshot.
fn set(marking: &MarkControllerRevisions) -> impl Iterator<Item = (&ObjectName, LiveMark)> {
    let own = [
        (&marking.current, LiveMark::Current),
        (&marking.update, LiveMark::Update),
    ];
    let own = own.into_iter().filter_map(|(said, mark)| match said {
        Some(Mark::On(name)) => Some((name, mark)),
        Some(Mark::Nowhere) | None => None,
    });
    let in_use = marking.in_use.iter().flat_map(|InUse { marker, names }| {
        let mark = LiveMark::InUse(marker.clone());
        names.iter().map(move |name| (name, mark.clone()))
    });
    own.chain(in_use)
}

fn mark(row: &mut ControllerRevision, marking: &MarkControllerRevisions) {
    let name = row.name();
    let is_on = |mark: &Mark| *mark == Mark::On(name.clone());
    let mut say = |mark: LiveMark, is_on: bool| {
        if is_on {
            row.marks.set(mark, marking.tie.clone());
        } else {
            row.marks.clear(&mark);
        }
    };
    if let Some(current) = &marking.current {
        say(LiveMark::Current, is_on(current));
    }
    if let Some(update) = &marking.update {
        say(LiveMark::Update, is_on(update));
    }
    if let Some(InUse { marker, names }) = &marking.in_use {
        say(LiveMark::InUse(marker.clone()), names.contains(&name));
    }
}
