//! How `Restore` changes the state: only its revision is not the next one, and only it empties the history.

use synod_model::{ClusterId, LogTime, Revision};

use super::Turn;
use crate::State;
use crate::hashes::left_replica_hash;

impl Turn<'_> {
    /// Continues as another cluster, at a revision that leaves a gap. It precedes every other change of the command,
    /// because those get this revision.
    pub(crate) fn restore(&mut self, cluster: ClusterId, revision: Revision, until: LogTime) {
        assert!(
            !self.moved && revision > self.revision,
            "a restore comes first, and raises the revision"
        );
        self.moved = true;
        self.restores = true;
        self.revision = revision;
        self.state.cluster = Some(cluster);
        // Members of a cluster that an earlier restore lost may still write, too.
        self.state.strangers_write_until = self.state.strangers_write_until.max(until);
    }

    /// Forgets which replicas have left. Only a restore does, since what it restores is another cluster.
    pub(crate) fn forget_left(&mut self) {
        let forgotten = std::mem::take(&mut self.state.left);
        for id in forgotten {
            self.state.sum.subtract(left_replica_hash(id));
        }
    }
}

impl State {
    /// Empties the history: a watch cannot cross the gap of a restore. It starts after the gap or is refused.
    pub(super) fn forget_history(&mut self) {
        self.history.restart(self.revision, &mut self.sum);
    }
}
