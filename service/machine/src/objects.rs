//! Collections and their objects: the rows that are kept, and what is derived from them.
//!
//! An object is one row. The counts by encoding, the index of labels, the index of kinds and the dependents of each
//! owner are derived. Loading a checkpoint rebuilds them, and every change of a row goes through
//! [`State::insert_object`](crate::State) and [`State::take_object`](crate::State), which keep them up to date.

pub(crate) mod deletion;
mod dependents;
pub(crate) mod guarantee;
pub(crate) mod labels;
mod status;
pub(crate) mod write;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use equivalent::{Comparable, Equivalent};
use imbl::{OrdMap, OrdSet};
use synod_model::{
    Alike, ApiVersion, Collection, Kind, NamespacedName, Object, ObjectKey, PackedObject,
};

pub(crate) use dependents::Dependents;

use labels::LabelIndex;

/// A collection with its objects and indexes.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) row: Arc<Collection>,
    objects: OrdSet<ByName>,
    /// How many objects have the same encoding and media type; each of them shares this key. Derived; every count is
    /// above zero.
    alike: OrdMap<Arc<Alike>, u64>,
    /// Derived.
    pub(crate) labels: LabelIndex,
}

/// An object in the order of names. The set needs no key beside it.
#[derive(Clone, Debug)]
struct ByName(PackedObject);

impl Held {
    pub(crate) fn new(row: Arc<Collection>) -> Self {
        Self {
            row,
            objects: OrdSet::new(),
            alike: OrdMap::new(),
            labels: LabelIndex::default(),
        }
    }

    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The object of this namespace, empty for none, and name.
    pub(crate) fn get(&self, name: (&str, &str)) -> Option<&PackedObject> {
        self.objects.get(&Name(name)).map(|ByName(object)| object)
    }

    /// The objects from a name on, in the order of their names.
    pub(crate) fn range(
        &self,
        from: Bound<NamespacedName>,
    ) -> impl Iterator<Item = &PackedObject> + use<'_> {
        let from = from.as_ref().map(|name| Name(name.scope_and_name()));
        let found = self.objects.range::<_, Name<'_>>((from, Bound::Unbounded));
        found.map(|ByName(object)| object)
    }

    /// Every object, in the order of their names.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &PackedObject> {
        self.objects.iter().map(|ByName(object)| object)
    }

    /// How many objects are stored in each encoding.
    pub(crate) fn counts(&self) -> BTreeMap<ApiVersion, u64> {
        let mut counts = BTreeMap::new();
        for (alike, count) in &self.alike {
            *counts.entry(alike.encoding.clone()).or_default() += count;
        }
        counts
    }

    /// The encodings in which objects are stored.
    pub(crate) fn encodings(&self) -> impl Iterator<Item = &ApiVersion> {
        self.alike.keys().map(|alike| &alike.encoding)
    }

    /// The object as it would be kept here: what others have, too, is shared with them.
    pub(crate) fn pack(&self, object: Object) -> PackedObject {
        let alike = Alike::of(&object);
        let known = self.alike.get_key_value(&alike);
        let known = known.map(|(known, _)| Arc::clone(known));
        PackedObject::pack(object, known.unwrap_or_else(|| Arc::new(alike)))
    }

    /// Inserts an object, and returns the one that it replaces.
    pub(crate) fn insert(&mut self, object: PackedObject) -> Option<PackedObject> {
        let before = self.objects.insert(ByName(object.clone()));
        let before = before.map(|ByName(before)| before);
        // Most updates keep the encoding: counted once more and once less, it would copy a path of the map for nothing.
        if before.as_ref().map(PackedObject::alike) != Some(object.alike()) {
            self.count(object.alike());
            if let Some(before) = &before {
                self.discount(before.alike());
            }
        }
        if let Some(before) = &before {
            self.unlabel(before);
        }
        let labels = &object.attributes().labels;
        if !labels.is_empty() {
            self.labels.insert(labels, &object.name());
        }
        before
    }

    /// Removes the object of this namespace, empty for none, and name.
    pub(crate) fn remove(&mut self, name: (&str, &str)) -> Option<PackedObject> {
        let ByName(object) = self.objects.remove(&Name(name))?;
        self.discount(object.alike());
        self.unlabel(&object);
        Some(object)
    }

    fn count(&mut self, alike: &Arc<Alike>) {
        *self.alike.entry(Arc::clone(alike)).or_insert(0) += 1;
    }

    fn discount(&mut self, alike: &Arc<Alike>) {
        let count = self
            .alike
            .get_mut(alike)
            .expect("an object that goes was counted when it came");
        *count -= 1;
        if *count == 0 {
            self.alike.remove(alike);
        }
    }

    fn unlabel(&mut self, object: &PackedObject) {
        let labels = &object.attributes().labels;
        if !labels.is_empty() {
            self.labels.remove(labels, &object.name());
        }
    }
}

/// A namespace, empty for none, and a name, to search with.
struct Name<'a>((&'a str, &'a str));

impl Equivalent<ByName> for Name<'_> {
    fn equivalent(&self, key: &ByName) -> bool {
        self.compare(key).is_eq()
    }
}

impl Comparable<ByName> for Name<'_> {
    fn compare(&self, key: &ByName) -> Ordering {
        let (scope, name) = self.0;
        (scope.as_bytes(), name.as_bytes()).cmp(&key.0.name_bytes())
    }
}

impl Ord for ByName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name_bytes().cmp(&other.0.name_bytes())
    }
}

impl PartialOrd for ByName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByName {}

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
