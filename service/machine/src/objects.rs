//! Collections and their objects: how they are kept, and what is derived from them.
//!
//! An object is one row. The counts by encoding, the labels, the kinds and the dependents of each owner follow from the
//! rows; they are rebuilt when a checkpoint is loaded, and every change of a row goes through [`State::insert_object`](crate::State)
//! and [`State::take_object`](crate::State), which keep them in step.

pub(crate) mod deletion;
mod dependents;
pub(crate) mod guarantee;
pub(crate) mod labels;
pub(crate) mod write;

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{ApiVersion, Collection, Kind, NamespacedName, Object, ObjectKey};

pub(crate) use dependents::Dependents;

use labels::LabelIndex;

/// A collection with its objects.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) row: Arc<Collection>,
    pub(crate) objects: OrdMap<NamespacedName, Arc<Object>>,
    /// How many objects are stored in each encoding. Derived; every count is above zero.
    pub(crate) counts: OrdMap<ApiVersion, u64>,
    /// Derived.
    pub(crate) labels: LabelIndex,
}

impl Held {
    pub(crate) fn new(row: Arc<Collection>) -> Self {
        Self {
            row,
            objects: OrdMap::new(),
            counts: OrdMap::new(),
            labels: LabelIndex::default(),
        }
    }

    pub(crate) fn count(&mut self, object: &Object) {
        *self
            .counts
            .entry(object.content.encoding.clone())
            .or_insert(0) += 1;
        self.labels
            .insert(&object.attributes.labels, &object.key.name);
    }

    pub(crate) fn forget(&mut self, object: &Object) {
        let encoding = &object.content.encoding;
        let count = self
            .counts
            .get_mut(encoding)
            .expect("an object that goes was counted when it came");
        *count -= 1;
        if *count == 0 {
            self.counts.remove(encoding);
        }
        self.labels
            .remove(&object.attributes.labels, &object.key.name);
    }
}

/// Dependents that are still to be dealt with: what a deletion leaves to further commands. One for each owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbage {
    /// The owner that goes or is gone.
    pub owner: ObjectKey,
    /// What becomes of its dependents.
    pub fate: Fate,
    /// How far its dependents have been dealt with.
    pub cursor: Cursor,
}

/// What becomes of the dependents of an owner that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They forget it.
    Orphan,
}

/// How far the dependents of an owner have been dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// None has been.
    Start,
    /// Those up to this one have been.
    After(ObjectKey),
    /// All have been: it is left to look whether the owner can go.
    End,
}

/// What no two collections share.
pub(crate) fn kind_of(row: &Collection) -> (Arc<str>, Kind) {
    (row.resource.group().into(), row.kind.clone())
}
