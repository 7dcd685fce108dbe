//! How the state keeps collections and objects, with their indexes.

use std::sync::Arc;

use synod_model::{
    Collection, GroupResource, NamespacedName, Object, ObjectKey, OwnerReference, PackedObject, Uid,
};

use crate::State;
use crate::objects::{Garbage, Held, kind_of};

impl State {
    /// Whether a deletion has left dependents to further commands. The leader then proposes
    /// [`CollectGarbage`](crate::CollectGarbage).
    #[must_use]
    pub fn has_garbage(&self) -> bool {
        !self.garbage.is_empty()
    }

    /// An object, unpacked: its data is copied if it is short.
    pub(crate) fn object(&self, key: &ObjectKey) -> Option<Object> {
        let packed = self.packed_object(key)?;
        Some(packed.unpack_named(key.name.clone()))
    }

    pub(crate) fn packed_object(&self, key: &ObjectKey) -> Option<&PackedObject> {
        let held = self.collections.get(&key.resource)?;
        held.get(key.name.scope_and_name())
    }

    /// The object as the collection would keep it.
    pub(crate) fn packed(&self, object: Object) -> PackedObject {
        let held = &self.collections[&object.key.resource];
        held.pack(object)
    }

    /// The existing object that an owner reference names, in the namespace of the referring object or in none.
    pub(crate) fn owner(
        &self,
        dependent: &NamespacedName,
        reference: &OwnerReference,
    ) -> Option<&PackedObject> {
        let kind = (reference.api_version.group().into(), reference.kind.clone());
        let held = self.collections.get(self.kinds.get(&kind)?)?;
        let name = dependent.sibling(held.row.namespaced, &reference.name)?;
        held.get(name.scope_and_name())
            .filter(|owner| owner.metadata().uid == reference.uid)
    }

    /// Inserts an object into an existing collection, and returns the object that it replaces.
    pub(crate) fn insert_object(&mut self, object: PackedObject) -> Option<PackedObject> {
        let held = self
            .collections
            .get_mut(&object.alike().resource)
            .expect("an object is put in a collection that is there");
        let before = held.insert(object.clone());
        if let Some(before) = &before {
            self.dependents.remove(before);
        }
        self.dependents.insert(&object);
        before
    }

    /// Removes and returns an existing object.
    pub(crate) fn take_object(&mut self, key: &ObjectKey) -> PackedObject {
        let held = self
            .collections
            .get_mut(&key.resource)
            .expect("an object is taken from a collection that is there");
        let object = held
            .remove(key.name.scope_and_name())
            .expect("the command found the object");
        self.dependents.remove(&object);
        object
    }

    /// Inserts a collection, or replaces its row and keeps its objects. Returns the replaced row.
    pub(crate) fn insert_collection(&mut self, row: Arc<Collection>) -> Option<Arc<Collection>> {
        if let Some(held) = self.collections.get(&row.resource) {
            self.kinds.remove(&kind_of(&held.row));
        }
        self.kinds.insert(kind_of(&row), row.resource.clone());
        if let Some(held) = self.collections.get_mut(&row.resource) {
            return Some(std::mem::replace(&mut held.row, row));
        }
        self.collections
            .insert(row.resource.clone(), Held::new(row));
        None
    }

    /// Removes and returns an existing, empty collection.
    pub(crate) fn take_collection(&mut self, resource: &GroupResource) -> Arc<Collection> {
        let held = self
            .collections
            .remove(resource)
            .expect("the command found the collection");
        assert!(held.len() == 0, "{resource}: it holds objects");
        self.kinds.remove(&kind_of(&held.row));
        held.row
    }

    /// The work that a deletion has left for the dependents of this owner, if any.
    pub(crate) fn garbage_of(&self, owner: &Uid) -> Option<&Arc<Garbage>> {
        self.garbage.get(owner)
    }
}
