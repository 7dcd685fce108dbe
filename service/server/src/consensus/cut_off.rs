//! Lets a replica catch up whose log's end was damaged and cut off, under a leader that counts what it has lost.
//!
//! openraft never lowers what a follower has acknowledged: it sends what comes after, the follower answers that this does not fit,
//! and so on (`docs/internals/openraft.md`). A leader of a new term begins without such beliefs. So the replica says where its log
//! was cut, and a leader that counts more begins a new term, if enough replicas would vote for it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use synod_store::LostEnd;
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

/// What is said again after this time was not under way when it was said first.
const AGAIN_MIN: Duration = Duration::from_millis(500);

/// What a replica said last of a log that ends before what this leader counts.
#[derive(Debug, Default)]
pub(super) struct StatedCut(Mutex<Option<(ReplicaId, Option<Position>, Instant)>>);

impl StatedCut {
    /// Notes what was said. Returns whether it is said again: a log that ends where it did then lacks what was counted then.
    fn is_said_again(&self, replica: ReplicaId, at: Option<Position>) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((by, before, since)) if (by, before) == (replica, at) => {
                let again = since.elapsed() >= AGAIN_MIN;
                if again {
                    *last = None;
                }
                again
            }
            Some(_) | None => {
                *last = Some((replica, at, Instant::now()));
                false
            }
        }
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
    /// Begins a new term if this replica leads, counts entries that a replica has lost, and would be elected again.
    pub(crate) async fn on_log_end(&self, replica: ReplicaId, end: LogEnd) {
        let LogEnd::Cut { at, lost } = end else {
            return;
        };
        let status = self.status();
        let is_stuck = status.leadership.is_me
            && counts_more(&status, replica, at)
            && self.shared.stated_cut.is_said_again(replica, at);
        if !is_stuck {
            return;
        }
        if !self.would_be_elected(&status, replica, lost) {
            tracing::warn!(%replica, "a replica lost the end of its log, and this leader finds no majority for a new term");
            return;
        }
        let led = status.leadership.term;
        tracing::warn!(%replica, ?at, term = led.get(), "a replica lost entries that this leader counts: it begins a new term");
        // If that fails, the replica says it again.
        let _ = self.leave_term(led, replica).await;
    }

    /// Whether a majority of each set of voters would vote for this replica, as far as is known: those that answer it, and a
    /// replica that lost the end of its log only if this one has all of it.
    fn would_be_elected(&self, status: &Status, cut: ReplicaId, lost: Position) -> bool {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        let last = self.shared.storage.log.last_log_id();
        let is_held = LostEnd(to_store_id(&log_id_of(&lost))).is_held_by(last);
        let votes = |id: &ReplicaId| {
            let silence = self.silence_by(&metrics, *id);
            let answers = silence.is_some_and(|silence| silence < self.election_timeout());
            *id == self.replica() || (answers && (*id != cut || is_held))
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
