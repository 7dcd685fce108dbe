//! Handing the leadership over to another replica.

use std::sync::atomic::Ordering;

use openraft::raft::VoteRequest;
use tokio::time::timeout;

use super::error::{HAND_OVER_ENTRIES_MAX, TransferError};
use super::facade::{Consensus, ConsensusParts};
use super::leadership::Leadership;
use super::types::{Vote, leader_id};
use super::{Position, ReplicaAddress, ReplicaId, Term};
use crate::peer::LogEnd;
use crate::seams::watch;

/// The number of heartbeats within which the target must be elected. Meanwhile nobody leads; afterwards this replica does again:
/// with the default of 75 ms within 500 ms in all.
const TAKEN_OVER_MAX: u32 = 4;

impl Consensus {
    /// Transfers the leadership to `to`, or without it to the most up-to-date follower, and waits for the new leader. Whoever does not
    /// answer at once, or could not lead soon, is no target.
    ///
    /// # Errors
    ///
    /// See [`TransferError`]. After [`TransferError::Timeout`] this replica has stood for election itself, and the transfer may
    /// still happen.
    pub async fn transfer_leadership(&self, to: Option<ReplicaId>) -> Result<(), TransferError> {
        let raft = &self.shared.raft;
        let Leadership {
            term: led,
            is_me: true,
            ..
        } = *self.shared.leadership.borrow()
        else {
            return Err(TransferError::NotLeader);
        };
        let target = self.transfer_target(to).await?;
        // Another may lead since, or this one in a later term.
        let now = *self.shared.leadership.borrow();
        if !now.is_me || now.term != led {
            return Err(TransferError::NotLeader);
        }
        raft.trigger()
            .transfer_leader(target)
            .await
            .map_err(|_| TransferError::Stopped)?;
        let mut leadership = self.leadership();
        let taken_over = leadership.wait_for(|now| {
            let is_right = |id| id != self.replica() && to.is_none_or(|to| to == id);
            // A replica of a higher id may be elected in the same term.
            now.term >= led && now.leader.is_some_and(is_right)
        });
        match timeout(TAKEN_OVER_MAX * self.shared.config.heartbeat, taken_over).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(watch::Closed)) => Err(TransferError::Stopped),
            Err(_) => {
                tracing::warn!(%target, "no replica took over: this one leaves its term");
                self.leave_term(led, target).await?;
                Err(TransferError::Timeout)
            }
        }
    }

    /// Leaves the term in which this replica led by granting the next to another, and stands for election in a later one unless it
    /// is about to end.
    ///
    /// A transfer that nobody has accepted needs it: openraft's leader takes no proposals and sends no heartbeats until another
    /// replica leads, however long that takes (`docs/internals/openraft.md`).
    pub(super) async fn leave_term(
        &self,
        led: Term,
        target: ReplicaId,
    ) -> Result<(), TransferError> {
        let ConsensusParts {
            raft, may_stand, ..
        } = &*self.shared;
        let stopped = |_| TransferError::Stopped;
        let held = raft.with_raft_state(|state| (*state.vote_ref(), state.log_ids.last().copied()));
        let (vote, last) = held.await.map_err(stopped)?;
        if vote.leader_id != leader_id(led, self.replica()) {
            return Ok(());
        }
        let next = Vote {
            leader_id: leader_id(Term::new(led.get() + 1), target),
            committed: false,
        };
        // As a transfer, so that this replica's own lease does not keep it from voting.
        let mut request = VoteRequest::new(next, last);
        request.leadership_transfer = true;
        raft.vote(request)
            .await
            .map_err(|_| TransferError::Stopped)?;
        if may_stand.load(Ordering::Acquire) {
            raft.trigger().elect(true).await.map_err(stopped)?;
        }
        Ok(())
    }

    /// The replica to hand the leadership to: it answers now, and can stand for election with what it has.
    async fn transfer_target(&self, to: Option<ReplicaId>) -> Result<ReplicaId, TransferError> {
        let metrics = self.shared.raft.metrics();
        let set = metrics.borrow().membership_config.clone();
        let others = set.membership().voter_ids();
        let named = |id: &ReplicaId| *id != self.replica() && to.is_none_or(|to| to == *id);
        let asked = others.filter(named).map(|id| {
            let address = set.membership().get_node(&id);
            self.log_end_of_target(id, address)
        });
        let answers = futures::future::join_all(asked).await;
        let best = answers
            .into_iter()
            .reduce(|one, other| match (&one, &other) {
                (Ok((_, a)), Ok((_, b))) if b > a => other,
                (Err(_), Ok(_)) => other,
                _ => one,
            });
        best.unwrap_or(Err(TransferError::NoTarget))
            .map(|(target, _)| target)
    }

    /// The end of the log of a replica that would be handed the leadership.
    ///
    /// # Errors
    ///
    /// Why it cannot take over.
    async fn log_end_of_target(
        &self,
        replica: ReplicaId,
        address: Option<&ReplicaAddress>,
    ) -> Result<(ReplicaId, Option<Position>), TransferError> {
        let address = address.ok_or(TransferError::NoTarget)?;
        // What is written meanwhile is under way to it.
        let last = self.shared.storage.log.last_log_id().map(|id| id.index);
        let link = self.shared.peers.link(replica, address);
        let question = link.log_end(2 * self.shared.config.heartbeat);
        let at = match question.await {
            Ok(LogEnd::At(position)) => Some(position),
            Ok(LogEnd::Empty) => None,
            Ok(LogEnd::Cut { .. } | LogEnd::Unsaid) => {
                return Err(TransferError::CutOff(replica));
            }
            Err(_) => return Err(TransferError::Silent(replica)),
        };
        let entries = entries_missing(last, at.map(|at| at.index));
        if entries > HAND_OVER_ENTRIES_MAX {
            return Err(TransferError::Behind { replica, entries });
        }
        Ok((replica, at))
    }
}

/// The number of entries that a log which ends at `at` lacks of one that ends at `last`.
fn entries_missing(last: Option<u64>, at: Option<u64>) -> u64 {
    let length = |end: Option<u64>| end.map_or(0, |index| index.saturating_add(1));
    length(last).saturating_sub(length(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_a_log_lacks_are_counted_from_its_end() {
        for (last, at, entries) in [
            (None, None, 0),
            (Some(0), None, 1),
            (Some(1_000), Some(0), HAND_OVER_ENTRIES_MAX),
            (Some(1_000), None, HAND_OVER_ENTRIES_MAX + 1),
            (Some(5), Some(7), 0),
        ] {
            assert_eq!(entries_missing(last, at), entries, "{last:?}, {at:?}");
        }
    }
}
