//! Lets a replica catch up whose log's end was damaged and cut off, under a leader that counts what it has lost.
//!
//! openraft never lowers what a follower has acknowledged: it sends what comes after, the follower answers that this does not fit,
//! and so on (`docs/internals/openraft.md`). A leader of a new term begins without such beliefs. So the replica says where its log
//! was cut, and a leader that counts more begins a new term, if enough replicas would vote for it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::facade::{Consensus, ConsensusParts};
use super::status::Status;
use super::{Position, ReplicaId};
use crate::peer::LogEnd;

/// How often a replica that was cut off tells its leader where its log ends.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// How long the leader has to answer.
const QUESTION_MAX: Duration = Duration::from_secs(1);

/// Tells the leader where this replica's log ends, again and again. Never ends.
pub(super) async fn tell_leader(shared: &ConsensusParts) {
    loop {
        tokio::time::sleep(TOLD_EVERY).await;
        let vote = shared.raft.metrics().borrow().vote;
        let leader = vote.leader_id.node_id;
        let set = shared.raft.server_metrics();
        let set = set.borrow().membership_config.clone();
        if let Some(address) = set.membership().get_node(&leader)
            && vote.committed
        {
            // Any call says where this log ends.
            let link = shared.peers.link(leader, address);
            let _ = link.log_end(QUESTION_MAX).await;
        }
    }
}

impl Consensus {
    /// Notes where another replica's log ends. Begins a new term if this replica leads, counts entries that the other has lost, and
    /// would be elected again.
    pub(crate) async fn on_log_end(&self, replica: ReplicaId, end: LogEnd) {
        let stated = &self.shared.stated_cuts;
        let is_said_again = stated.note(replica, end);
        let LogEnd::Cut { at, .. } = end else {
            return;
        };
        let status = self.status();
        if !status.leadership.is_me || !counts_more(&status, replica, at) || !is_said_again {
            return;
        }
        stated.begin_anew(replica);
        if !self.would_be_elected(&status) {
            tracing::warn!(%replica, "a replica lost the end of its log, and this leader finds no majority for a new term");
            return;
        }
        let led = status.leadership.term;
        tracing::warn!(%replica, ?at, term = led.get(), "a replica lost entries that this leader counts: it begins a new term");
        // If that fails, the replica says it again.
        let _ = self.leave_term(led, replica).await;
    }

    /// Whether a majority of each set of voters would vote for this replica, as far as is known: those that answer it, and
    /// replicas that lost the end of their logs only if this one has all of it.
    fn would_be_elected(&self, status: &Status) -> bool {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        let last = self.shared.storage.log.last_log_id();
        let votes = |id: &ReplicaId| {
            let silence = self.silence_by(&metrics, *id);
            let answers = silence.is_some_and(|silence| silence < self.election_timeout());
            *id == self.replica() || (answers && self.shared.stated_cuts.would_vote(*id, last))
        };
        let is_majority = |voters: &BTreeSet<ReplicaId>| {
            2 * voters.iter().filter(|id| votes(id)).count() > voters.len()
        };
        status.majorities.iter().all(is_majority)
    }
}

/// Whether this leader counts entries of a replica beyond where the replica's log ends.
fn counts_more(status: &Status, replica: ReplicaId, at: Option<Position>) -> bool {
    let known = status.replicas.get(&replica);
    let matched = known.and_then(|known| known.matched);
    matched.is_some_and(|matched| at.is_none_or(|at| matched.index > at.index))
}
