//! What the state answers about the marks of ControllerRevisions.

use synod_model::{MemberId, Uid};

use crate::State;
use crate::controller_revisions::{MarkPost, bytes_of};

impl State {
    /// The bytes of the snapshots that lose a mark when the object is removed.
    pub(crate) fn bytes_marked_by(&self, object: &Uid) -> usize {
        let post = MarkPost::Object(*object);
        let tied = self.controller_revisions.tied(&post);
        tied.map(|kept| bytes_of(&kept.row)).sum()
    }

    /// The number of snapshots that lose a mark when the member is removed, and their bytes.
    #[must_use]
    pub fn marked_by_member(&self, id: &MemberId) -> (usize, usize) {
        let post = MarkPost::Member(id.clone());
        let tied = self.controller_revisions.tied(&post);
        tied.fold((0, 0), |(count, bytes), kept| {
            (count + 1, bytes + bytes_of(&kept.row))
        })
    }
}
