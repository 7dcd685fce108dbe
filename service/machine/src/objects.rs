//! Collections and their objects: the rows that are kept, and what is derived from them.
//!
//! An object is one row. The counts by encoding, the index of labels, the index of kinds and the dependents of each
//! owner are derived. Loading a checkpoint rebuilds them, and every change of a row goes through
//! [`State::insert_object`](crate::State) and [`State::take_object`](crate::State), which keep them up to date.

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

/// A collection with its objects and indexes.
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

/// Work that a deletion leaves to further commands: dependents that are still to be processed. One for each owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Garbage {
    /// The owner that is being deleted or is deleted.
    pub owner: ObjectKey,
    /// What happens to its dependents.
    pub fate: Fate,
    /// How far its dependents have been processed.
    pub cursor: Cursor,
}

/// What happens to the dependents of a deleted owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// They are deleted after the owner.
    Background,
    /// They are deleted before the owner.
    Foreground,
    /// They stay and lose their reference to the owner.
    Orphan,
}

/// How far the dependents of an owner have been processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// None has been processed.
    Start,
    /// Those up to this one have been processed.
    After(ObjectKey),
    /// All have been processed; whether the owner can go is still to be checked.
    End,
}

/// The group and kind of a collection, which no two collections share.
pub(crate) fn kind_of(row: &Collection) -> (Arc<str>, Kind) {
    (row.resource.group().into(), row.kind.clone())
}
