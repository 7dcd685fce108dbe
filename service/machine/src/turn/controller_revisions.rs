//! How a command changes ControllerRevisions, and how their marks are removed.

use std::sync::Arc;
use std::time::Duration;

use synod_model::{ControllerRevision, LiveMark, LiveMarks, MarkTie, NamespacedName};

use super::Turn;
use crate::Holder;
use crate::controller_revisions::MarkPost;

impl Turn<'_> {
    pub(crate) fn put_controller_revision(&mut self, row: ControllerRevision) {
        let key = row.key.clone();
        let after = Arc::new(row);
        let before = self.state.controller_revisions.insert(Arc::clone(&after));
        let none = LiveMarks::default();
        let marks = before.as_ref().map_or(&none, |before| &before.marks);
        self.keep_mark_deadlines(&key, marks, &after.marks);
        self.record::<ControllerRevision>(key, before, Some(after));
    }

    /// Removes a snapshot, its marks and their deadlines.
    pub(crate) fn remove_controller_revision(&mut self, key: &NamespacedName) {
        let before = self.state.controller_revisions.remove(key);
        let before = before.expect("the command found the snapshot");
        self.keep_mark_deadlines(key, &before.marks, &LiveMarks::default());
        self.record::<ControllerRevision>(key.clone(), Some(before), None);
    }

    /// Moves the deadline of a mark that its holder has set again. Moves no revision.
    pub(crate) fn renew_mark(&mut self, key: &NamespacedName, mark: &LiveMark) {
        let kept = self.state.controller_revisions.get(key);
        let tie = kept.and_then(|kept| kept.row.marks.tie(mark));
        if let Some(ttl) = tie.and_then(renewals) {
            self.set_deadline(Holder::Mark(key.clone(), mark.clone()), ttl);
        }
    }

    /// Removes the marks that are tied to a member or an object that is removed.
    pub(crate) fn end_marks(&mut self, post: &MarkPost) {
        let tied = self.state.controller_revisions.tied(post);
        let rows: Vec<_> = tied.map(|kept| Arc::clone(&kept.row)).collect();
        for row in rows {
            let mut row = Arc::unwrap_or_clone(row);
            row.marks.clear_tied(|tie| post.holds(tie));
            row.metadata.resource_version = self.revision;
            self.put_controller_revision(row);
        }
    }

    /// Sets and clears deadlines so that a mark has one exactly if it is tied to renewals.
    fn keep_mark_deadlines(&mut self, key: &NamespacedName, before: &LiveMarks, after: &LiveMarks) {
        for (mark, tie) in before.iter() {
            let stays = after.tie(mark).and_then(renewals).is_some();
            if renewals(tie).is_some() && !stays {
                self.clear_deadline(&Holder::Mark(key.clone(), mark.clone()));
            }
        }
        for (mark, tie) in after.iter() {
            if let Some(ttl) = renewals(tie).filter(|_| before.tie(mark) != Some(tie)) {
                self.set_deadline(Holder::Mark(key.clone(), mark.clone()), ttl);
            }
        }
    }
}

/// The time that the mark lasts without being set again; `None` if it is not tied to renewals.
fn renewals(tie: &MarkTie) -> Option<Duration> {
    match tie {
        MarkTie::Renewals(ttl) => Some(ttl.duration()),
        MarkTie::Member(..) | MarkTie::Object(..) => None,
    }
}
