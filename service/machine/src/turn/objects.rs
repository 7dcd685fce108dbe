//! How a command changes collections, objects and the work that deletions have left.

use std::collections::BTreeMap;
use std::sync::Arc;

use synod_model::{Collection, Deletion, GroupResource, Object, ObjectKey, ObjectKind, Uid};

use super::Turn;
use crate::controller_revisions::MarkPost;
use crate::hashes::garbage_hash;
use crate::{Change, Garbage, Holder, ObjectRef, State};

impl Turn<'_> {
    pub(crate) fn put_collection(&mut self, row: Collection) {
        let after = Arc::new(row);
        let before = self.state.insert_collection(Arc::clone(&after));
        self.record::<Collection>(after.resource.clone(), before, Some(after));
    }

    /// Removes an empty collection.
    pub(crate) fn remove_collection(&mut self, resource: &GroupResource) {
        let before = self.state.take_collection(resource);
        self.record::<Collection>(resource.clone(), Some(before), None);
    }

    pub(crate) fn put_object(&mut self, object: Object) {
        let key = object.key.clone();
        let after = self.state.packed(object);
        let before = self.state.insert_object(after.clone());
        self.record::<Object>(key, before, Some(after));
    }

    /// Removes an object, its deadline and the marks that are tied to it. The caller processes its dependents.
    pub(crate) fn remove_object(&mut self, key: &ObjectKey) {
        let before = self.state.take_object(key);
        let uid = before.metadata().uid;
        self.clear_deadline(&Holder::Object(key.clone()));
        self.record::<Object>(key.clone(), Some(before), None);
        self.end_marks(&MarkPost::Object(uid));
    }

    /// The mark of an object whose deletion begins in this command.
    pub(crate) fn new_deletion(&mut self) -> Deletion {
        let position = self.deletions;
        self.deletions += 1;
        Deletion {
            at: self.wall,
            revision: self.revision,
            position,
        }
    }

    /// Whether earlier commands have left dependents to process.
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog
    }

    /// Keeps the work that is left for the dependents of an owner. Moves no revision, because no reader sees it.
    pub(crate) fn put_garbage(&mut self, uid: Uid, garbage: Garbage) {
        self.state.sum.add(garbage_hash(&uid, &garbage));
        if let Some(before) = self.state.garbage.insert(uid, Arc::new(garbage)) {
            self.state.sum.subtract(garbage_hash(&uid, &before));
        }
    }

    /// Removes the work that was left for the dependents of the owner.
    pub(crate) fn remove_garbage(&mut self, uid: &Uid) {
        if let Some(before) = self.state.garbage.remove(uid) {
            self.state.sum.subtract(garbage_hash(uid, &before));
        }
    }

    /// Does several things or, if one of them is refused, nothing.
    pub(crate) fn all_or_nothing<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let state: State = self.state.clone();
        let (moved, uids, deletions) = (self.moved, self.uids, self.deletions);
        let changes = self.changes.len();
        let done = work(self);
        if done.is_err() {
            *self.state = state;
            (self.moved, self.uids, self.deletions) = (moved, uids, deletions);
            self.changes.truncate(changes);
        }
        done
    }
}

/// Merges the changes of an object, snapshot or storage state into one, from before the command to after it: a
/// transaction may add to `persisted` several times, an object that a deletion marks may be removed in the same
/// command, and a snapshot loses a mark with each object or member that is removed.
pub(super) fn one_for_each(changes: Vec<Change>) -> Vec<Change> {
    if changes.len() < 2 {
        return changes;
    }
    let mut kept: Vec<Option<Change>> = Vec::with_capacity(changes.len());
    let mut places: BTreeMap<ObjectRef, usize> = BTreeMap::new();
    for mut change in changes {
        if changes_often(change.object.kind())
            && let Some(place) = places.insert(change.object.clone(), kept.len())
            && let Some(first) = kept[place].take()
        {
            change.before = first.before;
            // No command changes the agreement of a resource twice.
            change.agreement = change.agreement.or(first.agreement);
        }
        kept.push(Some(change));
    }
    let kept = kept.into_iter().flatten();
    let was_seen = |change: &Change| change.before.is_some() || change.after.is_some();
    kept.filter(was_seen).collect()
}

/// Whether one command may change an object of this kind several times.
fn changes_often(kind: ObjectKind) -> bool {
    use ObjectKind::{ControllerRevision, Object, StorageState};
    matches!(kind, Object | StorageState | ControllerRevision)
}
