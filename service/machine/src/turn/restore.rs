//! The one command whose revision is not the next one, and that leaves no history.

use synod_model::{ClusterId, LogTime, Revision};

use super::Turn;
use crate::State;

impl Turn<'_> {
    /// Goes on as another cluster, at a revision that leaves a gap. Comes before all that the command changes, since that
    /// has this revision.
    pub(crate) fn restore(&mut self, cluster: ClusterId, revision: Revision, until: LogTime) {
        assert!(
            !self.moved && revision > self.revision,
            "a restore comes first, and raises the revision"
        );
        self.moved = true;
        self.restores = true;
        self.revision = revision;
        self.state.cluster = Some(cluster);
        // Those of a cluster that was lost before may still write, too.
        self.state.strangers_write_until = self.state.strangers_write_until.max(until);
    }
}

impl State {
    /// Nobody can follow events across the gap that a restore leaves: a watch begins after it, or is told so.
    pub(super) fn forget_history(&mut self) {
        for hash in self.history.restart(self.revision) {
            self.sum.subtract(hash);
        }
    }
}
