//! The names of stores: what servers show of equivalent resources is posted once, under the first name.

use std::collections::BTreeMap;

use synod_client::{GroupResource, StorageState};

use super::server::Look;

/// The names of all stores that have several.
#[derive(Debug, Default)]
pub(crate) struct StoreNames {
    /// The first name for each of the others.
    firsts: BTreeMap<GroupResource, GroupResource>,
}

impl StoreNames {
    /// Adds the names of this store.
    pub(crate) fn add(&mut self, state: &StorageState) {
        let others = state.equivalents.iter();
        self.firsts
            .extend(others.map(|other| (other.clone(), state.resource.clone())));
    }

    /// Puts the first name of each store in place of the others.
    pub(crate) fn lead_to_first(&self, looks: &mut [Look]) {
        for shown in looks.iter_mut().flat_map(|look| &mut look.shown) {
            if let Some(first) = self.firsts.get(&shown.resource) {
                shown.resource = first.clone();
            }
        }
    }

    /// Whether a name of the store with this first name is of the group.
    pub(crate) fn is_of_group(&self, first: &GroupResource, group: &str) -> bool {
        let mut others = self.firsts.iter();
        first.group() == group || others.any(|(name, of)| of == first && name.group() == group)
    }
}
