//! Notes that objects of a resource are stored outside of this cluster.
//!
//! A collection counts its objects, and proves nothing about any other store. So what it counts is all that is stored only
//! while no member says that it has a store of its own, and discovery shows nothing that members do not store in the collection.

use std::collections::BTreeSet;

use synod_model::{EVIDENCE_SINCE, GroupResource, Persisted, StorageVersionHash, StoredIn};

use super::draft::Draft;
use crate::State;

impl Draft<'_> {
    /// Whether a collection counts all that is stored.
    pub(super) fn is_counted(&self, state: &State, resource: &GroupResource) -> bool {
        !self.after.stored_outside && state.counts_objects(resource)
    }

    /// Follows where the members store the objects.
    pub(super) fn note_outside(&mut self, state: &State, resource: &GroupResource) {
        // What others say was followed when they said it.
        let mut said = self
            .touched
            .keys()
            .filter_map(|id| self.whole.entries.get(id));
        if !self.after.stored_outside && said.any(|row| row.stored == StoredIn::Outside) {
            self.begin_outside(state, resource);
        }
    }

    /// Follows what discovery shows beside what members store in the collection.
    pub(super) fn note_shown_outside(&mut self, state: &State, resource: &GroupResource) {
        let inside = self
            .whole
            .entries
            .values()
            .filter(|row| row.stored == StoredIn::Collection);
        let inside: BTreeSet<_> = inside
            .filter_map(|row| {
                let encoding = row.encoding.as_ref()?;
                Some(StorageVersionHash::of_version(encoding, &row.kind))
            })
            .collect();
        let shown = self.after.observation.as_ref();
        if shown.is_some_and(|shown| !shown.hashes.is_subset(&inside)) {
            self.begin_outside(state, resource);
        }
    }

    /// Doubts what is stored of a resource that had been taken to be in its collection alone.
    fn begin_outside(&mut self, state: &State, resource: &GroupResource) {
        let is_known = state.machine_version() >= EVIDENCE_SINCE;
        if !is_known || !self.kind.is_seen_in_stores() || self.after.stored_outside {
            return;
        }
        self.after.stored_outside = true;
        // Of what was never known it is unknown already what is stored. A collection may have counted it that is gone.
        if self.before.is_some() {
            self.after.persisted.insert(Persisted::Unknown);
            self.raise_unknown_drain(state, resource, state.write_grace_ends());
            self.aborts = true;
        }
    }
}
