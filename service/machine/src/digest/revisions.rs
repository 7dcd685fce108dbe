//! The canonical form of ControllerRevisions and of what is answered about them.

use synod_model::{
    ControllerRevision, LiveMark, LiveMarks, MarkTie, NamespacedName, OwnerReference,
};

use super::fold::values::{fold_metadata, fold_version};
use super::objects::fold_object_key;
use super::{RowHash, RowHasher};
use crate::{HistoryAnswer, RevisionAnswer, RevisionOutcome};

pub(crate) fn controller_revision_hash(row: &ControllerRevision) -> RowHash {
    let mut to = RowHasher::new(30);
    fold_controller_revision(&mut to, row);
    to.finish()
}

pub(super) fn fold_revision_change(
    to: &mut RowHasher,
    key: &NamespacedName,
    before: Option<&ControllerRevision>,
    after: Option<&ControllerRevision>,
) {
    to.text(&key.to_string());
    // The data never changes, so it is kept once; only its version may have become known.
    to.option(before, |to, row| match after {
        Some(after) => {
            fold_without_data(to, row);
            if row.data.version() != after.data.version() {
                to.option(row.data.version(), fold_version);
            }
        }
        None => fold_controller_revision(to, row),
    });
    to.option(after, fold_controller_revision);
}

fn fold_controller_revision(to: &mut RowHasher, row: &ControllerRevision) {
    fold_without_data(to, row);
    to.text(row.data.media_type().as_str());
    to.number(row.data.bytes().len() as u64);
    to.raw(row.data.bytes());
    to.option(row.data.version(), fold_version);
}

fn fold_without_data(to: &mut RowHasher, row: &ControllerRevision) {
    let ControllerRevision {
        key,
        metadata,
        labels,
        annotations,
        controller,
        number,
        data: _,
        marks,
    } = row;
    to.text(&key.to_string());
    fold_metadata(to, metadata);
    for pairs in [
        labels.iter().collect::<Vec<_>>(),
        annotations.iter().collect(),
    ] {
        to.list(pairs.into_iter(), |to, (key, value)| {
            to.text(key);
            to.text(value);
        });
    }
    to.option(controller.as_ref(), fold_owner);
    to.number(number.get());
    fold_marks(to, marks);
}

fn fold_marks(to: &mut RowHasher, marks: &LiveMarks) {
    let marks: Vec<_> = marks.iter().collect();
    to.list(marks.into_iter(), |to, (mark, tie)| {
        fold_live_mark(to, mark);
        match tie {
            MarkTie::Renewals(ttl) => {
                to.number(1);
                to.number(ttl.as_millis());
            }
            MarkTie::Member(id, epoch) => {
                to.number(2);
                to.text(id.as_str());
                to.number(epoch.get());
            }
            MarkTie::Object(key, uid) => {
                to.number(3);
                fold_object_key(to, key);
                to.raw(uid.as_bytes());
            }
        }
    });
}

pub(super) fn fold_live_mark(to: &mut RowHasher, mark: &LiveMark) {
    match mark {
        LiveMark::Current => to.number(1),
        LiveMark::Update => to.number(2),
        LiveMark::InUse(marker) => {
            to.number(3);
            to.text(marker.as_str());
        }
    }
}

fn fold_owner(to: &mut RowHasher, owner: &OwnerReference) {
    let OwnerReference {
        api_version,
        kind,
        name,
        uid,
        controller,
        block_owner_deletion,
    } = owner;
    fold_version(to, api_version);
    to.text(kind.as_str());
    to.text(name.as_str());
    to.raw(uid.as_bytes());
    to.flag(*controller);
    to.flag(*block_owner_deletion);
}

pub(super) fn fold_revision_answer(to: &mut RowHasher, answer: &RevisionAnswer) {
    let RevisionAnswer {
        name,
        number,
        outcome,
        collision_count,
        history,
    } = answer;
    to.text(name.as_str());
    to.number(number.get());
    to.number(match outcome {
        RevisionOutcome::Unchanged => 1,
        RevisionOutcome::RolledBack => 2,
        RevisionOutcome::Created => 3,
    });
    to.number(u64::from(*collision_count));
    fold_history_answer(to, history);
}

pub(super) fn fold_history_answer(to: &mut RowHasher, answer: &HistoryAnswer) {
    let HistoryAnswer {
        adopted,
        deleted,
        left,
    } = answer;
    for count in [adopted, deleted, left] {
        to.number(u64::from(*count));
    }
}
