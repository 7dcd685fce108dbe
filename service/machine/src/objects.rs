//! Collections and their objects: how they are kept, and what is derived from them.
//!
//! An object is one row. The counts by encoding, the labels, the kinds and the dependents of each owner follow from the
//! rows; they are rebuilt when a checkpoint is loaded, and every change of a row goes through [`State::insert_object`]
//! and [`State::take_object`], which keep them in step.

pub(crate) mod deletion;
mod dependents;
pub(crate) mod guarantee;
pub(crate) mod labels;
pub(crate) mod write;

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{
    ApiVersion, Collection, GroupResource, Kind, NamespacedName, Object, ObjectKey, OwnerReference,
    Uid,
};

pub(crate) use dependents::Dependents;

use crate::State;
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

    fn count(&mut self, object: &Object) {
        *self
            .counts
            .entry(object.content.encoding.clone())
            .or_insert(0) += 1;
        self.labels
            .insert(&object.attributes.labels, &object.key.name);
    }

    fn forget(&mut self, object: &Object) {
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

impl State {
    /// Whether a deletion has left dependents to further commands: the leader then proposes
    /// [`CollectGarbage`](crate::CollectGarbage).
    #[must_use]
    pub fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    pub(crate) fn object(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.collections.get(&key.resource)?.objects.get(&key.name)
    }

    /// The living object that a reference means, seen from an object: in its namespace, or without one.
    pub(crate) fn owner(
        &self,
        dependent: &NamespacedName,
        reference: &OwnerReference,
    ) -> Option<&Arc<Object>> {
        let kind = (reference.api_version.group().into(), reference.kind.clone());
        let held = self.collections.get(self.kinds.get(&kind)?)?;
        let name = dependent.sibling(held.row.namespaced, &reference.name)?;
        held.objects
            .get(&name)
            .filter(|owner| owner.metadata.uid == reference.uid)
    }

    /// Keeps an object, in a collection that is there. Answers the one that it replaces.
    pub(crate) fn insert_object(&mut self, object: Arc<Object>) -> Option<Arc<Object>> {
        let held = self
            .collections
            .get_mut(&object.key.resource)
            .expect("an object is put in a collection that is there");
        let before = held
            .objects
            .insert(object.key.name.clone(), Arc::clone(&object));
        if let Some(before) = &before {
            held.forget(before);
            self.dependents.remove(before);
        }
        held.count(&object);
        self.dependents.insert(&object);
        before
    }

    /// Lets go of an object that is there.
    pub(crate) fn take_object(&mut self, key: &ObjectKey) -> Arc<Object> {
        let held = self
            .collections
            .get_mut(&key.resource)
            .expect("an object is taken from a collection that is there");
        let object = held
            .objects
            .remove(&key.name)
            .expect("the command found the object");
        held.forget(&object);
        self.dependents.remove(&object);
        object
    }

    /// Keeps a collection and its objects, if it is there already. Answers the row that it replaces.
    pub(crate) fn insert_collection(&mut self, row: Arc<Collection>) -> Option<Arc<Collection>> {
        self.kinds.insert(kind_of(&row), row.resource.clone());
        if let Some(held) = self.collections.get_mut(&row.resource) {
            return Some(std::mem::replace(&mut held.row, row));
        }
        self.collections
            .insert(row.resource.clone(), Held::new(row));
        None
    }

    /// Lets go of a collection that is there and empty.
    pub(crate) fn take_collection(&mut self, resource: &GroupResource) -> Arc<Collection> {
        let held = self
            .collections
            .remove(resource)
            .expect("the command found the collection");
        assert!(held.objects.is_empty(), "{resource}: it holds objects");
        self.kinds.remove(&kind_of(&held.row));
        held.row
    }

    /// What the garbage of this owner waits for, if it has any.
    pub(crate) fn garbage_of(&self, owner: &Uid) -> Option<&Arc<Garbage>> {
        self.garbage.get(owner)
    }
}

/// What no two collections share.
fn kind_of(row: &Collection) -> (Arc<str>, Kind) {
    (row.resource.group().into(), row.kind.clone())
}
