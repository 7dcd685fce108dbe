//! The names of stores at a revision, and what members report under all of them.

use std::ops::Bound;
use std::sync::Arc;

use synod_model::GroupResource;

use super::Past;
use crate::equivalents::{base_of_key, key_of};
use crate::{StorageStateRow, StorageVersionView};

impl Past<'_> {
    /// The first name of a resource's store: its own, unless it is equivalent to others.
    pub(crate) fn first_name(&self, resource: &GroupResource) -> GroupResource {
        let first = match base_of_key(resource) {
            None => self.first_of(resource),
            Some(base) => self.first_of(&base).and_then(|first| key_of(&first)),
        };
        first.unwrap_or_else(|| resource.clone())
    }

    /// The first name of the set in which a resource is another name.
    fn first_of(&self, resource: &GroupResource) -> Option<GroupResource> {
        let names = |row: &StorageStateRow| row.status.equivalents.contains(resource);
        let present = self.state.first_names.get(resource);
        let present = present.filter(|first| self.own_state(first).is_some_and(|row| names(&row)));
        let mut undone = self.undone_from::<StorageStateRow>(Bound::Unbounded);
        let undone = || undone.find_map(|(first, row)| row.filter(|row| names(row)).map(|_| first));
        present.or_else(undone).cloned()
    }

    /// All names of a resource's store, the first one first.
    pub(crate) fn names(&self, resource: &GroupResource) -> Vec<GroupResource> {
        let first = self.first_name(resource);
        let base = base_of_key(&first);
        let kept = self.own_state(base.as_ref().unwrap_or(&first));
        let others = kept.iter().flat_map(|row| &row.status.equivalents);
        let others: Vec<_> = others
            .filter_map(|name| match base {
                None => Some(name.clone()),
                Some(_) => key_of(name),
            })
            .collect();
        [first].into_iter().chain(others).collect()
    }

    /// The reports on a resource's store under all of its names, as if it had the first of those alone.
    pub(crate) fn reports(&self, resource: &GroupResource) -> Option<StorageVersionView> {
        let names = self.names(resource).into_iter();
        let mut views = names.filter_map(|name| self.storage_version(&name));
        let mut whole = views.next()?;
        for view in views {
            whole.entries = whole.entries.union(view.entries);
        }
        Some(whole)
    }

    /// The resources after `after` of which anything is known, by (group, resource): each is the first name of a store, or is
    /// reported.
    pub fn known_resources(
        &self,
        after: Option<&GroupResource>,
    ) -> impl Iterator<Item = GroupResource> {
        let mut stores = self.storage_states(after).map(|it| it.resource).peekable();
        let mut reported = self
            .storage_versions(after)
            .map(|it| it.resource)
            .peekable();
        std::iter::from_fn(move || match (stores.peek(), reported.peek()) {
            (Some(store), Some(name)) if name < store => reported.next(),
            (Some(store), Some(name)) if name == store => {
                reported.next();
                stores.next()
            }
            (Some(_), _) => stores.next(),
            (None, _) => reported.next(),
        })
    }

    pub(super) fn own_state(&self, resource: &GroupResource) -> Option<Arc<StorageStateRow>> {
        let kept = self.state.storage_states.get(resource);
        self.one::<StorageStateRow>(resource, kept.map(|kept| &kept.row))
    }
}
