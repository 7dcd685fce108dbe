//! Reads one object at a revision without undoing the changes of the others.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use synod_model::{ControllerRevision, NamespacedName, Object, ObjectKey, PackedObject, Revision};

use super::OutOfReach;
use crate::{Change, EventScope, State, Watched};

impl State {
    /// An object as it was right after `revision`.
    /// Costs one look-up if the object has not changed since, else one step for each change between the revision and
    /// the object's next change.
    ///
    /// # Errors
    ///
    /// As for [`Self::at`].
    pub fn object_at(
        &self,
        key: &ObjectKey,
        revision: Revision,
    ) -> Result<Option<Arc<Object>>, OutOfReach> {
        let changed_at = |object: &PackedObject| object.metadata().resource_version;
        let kept = self.packed_object(key);
        let packed = self.row_at::<Object>(key, revision, kept, changed_at)?;
        Ok(packed.map(|packed| Arc::new(packed.unpack_named(key.name.clone()))))
    }

    /// A ControllerRevision as it was right after `revision`, at the cost of [`Self::object_at`].
    ///
    /// # Errors
    ///
    /// As for [`Self::at`].
    pub fn controller_revision_at(
        &self,
        key: &NamespacedName,
        revision: Revision,
    ) -> Result<Option<Arc<ControllerRevision>>, OutOfReach> {
        let kept = self.controller_revisions.get(key).map(|kept| &kept.row);
        let changed_at = |row: &Arc<ControllerRevision>| row.metadata.resource_version;
        self.row_at::<ControllerRevision>(key, revision, kept, changed_at)
    }

    fn row_at<R: Watched>(
        &self,
        key: &R::Key,
        revision: Revision,
        present: Option<&R::Kept>,
        changed_at: impl Fn(&R::Kept) -> Revision,
    ) -> Result<Option<R::Kept>, OutOfReach> {
        self.check_reach(EventScope::All, revision)?;
        let later = self.history.oldest_first_after(revision);
        let changes = later.flat_map(|events| &events.changes);
        let undone = changes.filter_map(Change::of::<R>);
        let undone = undone.filter(|change| change.key == key);
        let undone = undone.map(|change| change.before);
        Ok(as_it_was(present, changed_at, revision, undone).cloned())
    }
}

/// The value at a revision: the present one if it is that old, else the value that the first change since has replaced.
///
/// Every change gives an object its revision, so the present value tells whether to search the history.
fn as_it_was<'a, T: 'a>(
    present: Option<&'a T>,
    changed_at: impl Fn(&T) -> Revision,
    revision: Revision,
    mut undone: impl Iterator<Item = Option<&'a T>>,
) -> Option<&'a T> {
    if present.is_some_and(|present| changed_at(present) <= revision) {
        return present;
    }
    undone.next().unwrap_or(present)
}
