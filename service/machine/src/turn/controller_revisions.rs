//! How a command changes snapshots of controllers.

use std::sync::Arc;

use synod_model::{ControllerRevision, NamespacedName};

use super::Turn;
use crate::Change;
use crate::digest::controller_revision_hash;

impl Turn<'_> {
    pub(crate) fn put_controller_revision(&mut self, row: ControllerRevision) {
        self.moved = true;
        let key = row.key.clone();
        let after = Arc::new(row);
        self.state.sum.add(controller_revision_hash(&after));
        let before = self.state.controller_revisions.insert(Arc::clone(&after));
        if let Some(before) = &before {
            self.state.sum.subtract(controller_revision_hash(before));
        }
        self.changes.push(Change::ControllerRevision {
            key,
            before,
            after: Some(after),
        });
    }

    pub(crate) fn remove_controller_revision(&mut self, key: &NamespacedName) {
        self.moved = true;
        let before = self.state.controller_revisions.remove(key);
        let before = before.expect("the command found the snapshot");
        self.state.sum.subtract(controller_revision_hash(&before));
        self.changes.push(Change::ControllerRevision {
            key: key.clone(),
            before: Some(before),
            after: None,
        });
    }
}
