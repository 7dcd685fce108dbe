//! One thing at a revision, for who asks about no other: nothing else is undone.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use synod_model::{ControllerRevision, NamespacedName, Object, ObjectKey, Revision};

use super::OutOfReach;
use crate::{Change, State};

impl State {
    /// An object as it was right after `revision`.
    ///
    /// It costs a look-up if the object has not changed since, else a step for each change between the revision and the
    /// object's next one.
    ///
    /// # Errors
    ///
    /// As for [`Self::at`].
    pub fn object_at(
        &self,
        key: &ObjectKey,
        revision: Revision,
    ) -> Result<Option<Arc<Object>>, OutOfReach> {
        self.check_reach(revision)?;
        let undone = self.changes_after(revision).filter_map(|change| {
            let Change::Object {
                key: changed,
                before,
                ..
            } = change
            else {
                return None;
            };
            (changed == key).then_some(before)
        });
        let changed_at = |object: &Object| object.metadata.resource_version;
        Ok(as_it_was(self.object(key), changed_at, revision, undone))
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
        self.check_reach(revision)?;
        let undone = self.changes_after(revision).filter_map(|change| {
            let Change::ControllerRevision {
                key: changed,
                before,
                ..
            } = change
            else {
                return None;
            };
            (changed == key).then_some(before)
        });
        let kept = self.controller_revisions.get(key).map(|kept| &kept.row);
        let changed_at = |row: &ControllerRevision| row.metadata.resource_version;
        Ok(as_it_was(kept, changed_at, revision, undone))
    }

    /// What changed after `revision`, oldest first.
    fn changes_after(&self, revision: Revision) -> impl Iterator<Item = &Change> {
        let events = self.history.oldest_first_after(revision);
        events.flat_map(|events| &events.changes)
    }
}

/// What something was at a revision: what it is, if that was so before, or what the first change since has undone.
///
/// Every change of an object takes the revision that it was made at, so the present one says whether to look further.
fn as_it_was<'a, T: 'a>(
    present: Option<&Arc<T>>,
    changed_at: impl Fn(&T) -> Revision,
    revision: Revision,
    mut undone: impl Iterator<Item = &'a Option<Arc<T>>>,
) -> Option<Arc<T>> {
    let is_old = present.is_some_and(|present| changed_at(present) <= revision);
    let before = if is_old { None } else { undone.next() };
    match before {
        Some(before) => before.clone(),
        None => present.cloned(),
    }
}
