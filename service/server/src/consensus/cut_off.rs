//! Lets a replica catch up whose log's end was damaged and cut off, under a leader that counts what it has lost.
//!
//! openraft never lowers what a follower has acknowledged: it sends what comes after, the follower answers that this does not fit,
//! and so on (`docs/internals/openraft.md`). A leader of a new term begins without such beliefs. So the replica says where its log
//! was cut, and a leader that counts more begins a new term, if enough replicas would vote for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_store::{LogId, LostEnd};
use tokio::time::Instant;

use super::facade::{Consensus, ConsensusParts};
use super::record::to_store_id;
use super::status::Status;
use super::types::log_id_of;
use super::{Position, ReplicaId};
use crate::peer::LogEnd;

/// How often a replica that was cut off tells its leader where its log ends.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// How long the leader has to answer.
const QUESTION_MAX: Duration = Duration::from_secs(1);

/// What is said again after this time was not under way when it was said first, but for two calls that were delayed together: that
/// costs a new term.
const AGAIN_MIN: Duration = Duration::from_millis(500);

/// What the replicas said last whose logs were cut off.
#[derive(Debug, Default)]
pub(super) struct StatedCuts(Mutex<BTreeMap<ReplicaId, StatedCut>>);

#[derive(Debug)]
struct StatedCut {
    at: Option<Position>,
    lost: Position,
    /// When the log was first said to end there.
    since: Instant,
}

impl StatedCuts {
    /// Notes what a replica said. Returns whether it says again that its log ends there: such a log lacks what was counted before.
    fn note(&self, replica: ReplicaId, end: LogEnd) -> bool {
        let mut stated = self.lock();
        let (at, lost) = match end {
            LogEnd::Cut { at, lost } => (at, lost),
            LogEnd::At(_) | LogEnd::Empty => {
                stated.remove(&replica);
                return false;
            }
            LogEnd::Unsaid => return false,
        };
        let since = Instant::now();
        let said = stated
            .entry(replica)
            .or_insert(StatedCut { at, lost, since });
        if said.at != at {
            *said = StatedCut { at, lost, since };
        }
        said.since.elapsed() >= AGAIN_MIN
    }

    /// Whether a replica would vote for a candidate whose log ends so, by what it said.
    fn would_vote(&self, replica: ReplicaId, last: Option<LogId>) -> bool {
        let stated = self.lock();
        let said = stated.get(&replica);
        said.is_none_or(|said| LostEnd(to_store_id(&log_id_of(&said.lost))).is_held_by(last))
    }

    /// Forgets since when a replica's log ends where it does, so that it has to say so again.
    fn begin_anew(&self, replica: ReplicaId) {
        if let Some(said) = self.lock().get_mut(&replica) {
            said.since = Instant::now();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ReplicaId, StatedCut>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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
