//! How a command changes collections, objects and what deletions have left.

use std::collections::BTreeMap;
use std::sync::Arc;

use synod_model::{Collection, Deletion, GroupResource, NamespacedName, Object, ObjectKey, Uid};

use super::Turn;
use crate::controller_revisions::MarkPost;
use crate::hashes::{collection_hash, garbage_hash, object_hash};
use crate::{Change, Garbage, Holder, State};

impl Turn<'_> {
    pub(crate) fn put_collection(&mut self, row: Collection) {
        self.moved = true;
        let after = Arc::new(row);
        self.state.sum.add(collection_hash(&after));
        let before = self.state.insert_collection(Arc::clone(&after));
        if let Some(before) = &before {
            self.state.sum.subtract(collection_hash(before));
        }
        self.changes.push(Change::Collection {
            resource: after.resource.clone(),
            before,
            after: Some(after),
        });
    }

    /// Removes a collection, which holds no objects.
    pub(crate) fn remove_collection(&mut self, resource: &GroupResource) {
        self.moved = true;
        let before = self.state.take_collection(resource);
        self.state.sum.subtract(collection_hash(&before));
        self.changes.push(Change::Collection {
            resource: resource.clone(),
            before: Some(before),
            after: None,
        });
    }

    pub(crate) fn put_object(&mut self, object: Object) {
        self.moved = true;
        let after = Arc::new(object);
        self.state.sum.add(object_hash(&after));
        let before = self.state.insert_object(Arc::clone(&after));
        if let Some(before) = &before {
            self.state.sum.subtract(object_hash(before));
        }
        self.changes.push(Change::Object {
            key: after.key.clone(),
            before,
            after: Some(after),
        });
    }

    /// Removes an object, its deadline and the marks that go with it. Its dependents are the caller's to deal with.
    pub(crate) fn remove_object(&mut self, key: &ObjectKey) {
        self.moved = true;
        let before = self.state.take_object(key);
        let uid = before.metadata.uid;
        self.state.sum.subtract(object_hash(&before));
        self.clear_deadline(&Holder::Object(key.clone()));
        self.changes.push(Change::Object {
            key: key.clone(),
            before: Some(before),
            after: None,
        });
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

    /// Whether earlier commands have left dependents to deal with.
    pub(crate) fn has_backlog(&self) -> bool {
        self.backlog
    }

    /// Keeps what is to be done for the dependents of an owner. Moves no revision: nobody reads it.
    pub(crate) fn put_garbage(&mut self, uid: Uid, garbage: Garbage) {
        self.state.sum.add(garbage_hash(&uid, &garbage));
        if let Some(before) = self.state.garbage.insert(uid, Arc::new(garbage)) {
            self.state.sum.subtract(garbage_hash(&uid, &before));
        }
    }

    /// Nothing is to be done for the dependents of the owner any more.
    pub(crate) fn remove_garbage(&mut self, uid: &Uid) {
        if let Some(before) = self.state.garbage.remove(uid) {
            self.state.sum.subtract(garbage_hash(uid, &before));
        }
    }

    /// Does several things or, if one of them is refused, none.
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

/// One change for each object, snapshot and storage state, from what it was before the command to what it is after it: a
/// transaction may add to what is persisted several times, what a deletion marks may go in the same command, and a
/// snapshot loses a mark with each of the things that go.
pub(super) fn one_for_each(changes: Vec<Change>) -> Vec<Change> {
    if changes.len() < 2 {
        return changes;
    }
    let mut kept: Vec<Option<Change>> = Vec::with_capacity(changes.len());
    let mut objects: BTreeMap<ObjectKey, usize> = BTreeMap::new();
    let mut states: BTreeMap<GroupResource, usize> = BTreeMap::new();
    let mut snapshots: BTreeMap<NamespacedName, usize> = BTreeMap::new();
    for mut change in changes {
        let at = kept.len();
        match &mut change {
            Change::Object { key, before, .. } => {
                if let Some(Change::Object { before: first, .. }) = objects
                    .insert(key.clone(), at)
                    .and_then(|at| kept[at].take())
                {
                    *before = first;
                }
            }
            Change::StorageState {
                resource,
                before,
                agreement,
                ..
            } => {
                if let Some(Change::StorageState {
                    before: first,
                    agreement: line,
                    ..
                }) = states
                    .insert(resource.clone(), at)
                    .and_then(|at| kept[at].take())
                {
                    *before = first;
                    // No command changes an agreement twice.
                    *agreement = agreement.take().or(line);
                }
            }
            Change::ControllerRevision { key, before, .. } => {
                if let Some(Change::ControllerRevision { before: first, .. }) = snapshots
                    .insert(key.clone(), at)
                    .and_then(|at| kept[at].take())
                {
                    *before = first;
                }
            }
            Change::Member { .. }
            | Change::StorageVersion { .. }
            | Change::Settings { .. }
            | Change::Roster { .. }
            | Change::Collection { .. }
            | Change::Lease { .. }
            | Change::LeaseCandidate { .. }
            | Change::Migration { .. } => {}
        }
        kept.push(Some(change));
    }
    let never_seen = |change: &Change| {
        matches!(
            change,
            Change::Object {
                before: None,
                after: None,
                ..
            }
        )
    };
    let kept = kept.into_iter().flatten();
    kept.filter(|change| !never_seen(change)).collect()
}
