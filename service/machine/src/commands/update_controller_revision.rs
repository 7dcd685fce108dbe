//! `UpdateControllerRevision`: raises the number and replaces labels and annotations; the data stays.

use synod_model::{
    ControllerRevision, Current, ErrorKind, HASH_LABEL, Labels, Refusal, UpdateControllerRevision,
    Violations,
};

use super::controller_history::found;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    update: &UpdateControllerRevision,
) -> Result<Answer, Refusal> {
    let present = found(turn.state(), &update.key, &update.preconditions)?;
    let mut row = (**present).clone();
    if update
        .data
        .as_ref()
        .is_some_and(|data| !data.is_same_bytes(&row.data))
    {
        return Err(immutable(&row, "data", "field is immutable"));
    }
    if let Some(number) = update.number {
        if number < row.number {
            let rule = format!("the number moves forward only, and it is {}", row.number);
            return Err(immutable(&row, "number", &rule));
        }
        row.number = number;
    }
    if let Some(labels) = &update.labels {
        row.labels = keeping_hash(&row, labels)?;
    }
    if let Some(annotations) = &update.annotations {
        row.annotations = annotations.clone();
    }
    if row != **present {
        row.metadata.resource_version = turn.revision();
        turn.put_controller_revision(row);
    }
    Ok(Answer::Done)
}

/// The new labels, with the present hash label.
fn keeping_hash(row: &ControllerRevision, labels: &Labels) -> Result<Labels, Refusal> {
    let hash = row.labels.get(HASH_LABEL);
    match (labels.get(HASH_LABEL), hash) {
        (Some(given), hash) if Some(given) != hash => {
            Err(immutable(row, "labels", "the hash is that of the data"))
        }
        (None, Some(hash)) => {
            // The check of the request leaves room for it. Apply checks again: if it panicked over a log entry, no
            // replica could ever get past that entry.
            let mut found = Violations::new();
            let pairs = labels.iter().chain([(HASH_LABEL, hash)]);
            let kept = found.parsed("labels", Labels::parse(pairs));
            kept.ok_or_else(|| found.into_refusal())
        }
        (Some(_) | None, _) => Ok(labels.clone()),
    }
}

fn immutable(row: &ControllerRevision, field: &str, rule: &str) -> Refusal {
    let message = format!("ControllerRevision \"{}\": {field}: {rule}", row.key);
    Refusal::new(ErrorKind::Immutable, message)
        .with("field", field)
        .with_current(Current::ControllerRevision(row.clone()))
}
