//! Handing the leadership over to another replica.

use std::sync::atomic::Ordering;

use openraft::raft::VoteRequest;
use tokio::time::timeout;

use super::error::TransferError;
use super::facade::{Consensus, ConsensusParts};
use super::leadership::Leadership;
use super::types::{Vote, leader_id};
use super::{ReplicaId, Term};
use crate::seams::watch;

impl Consensus {
    /// Transfers the leadership to `to`, or without it to the most up-to-date follower, and waits for the new leader. A follower
    /// that has acknowledged nothing for an election timeout is no target.
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
        let target = self.transfer_target(to)?;
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
        match timeout(2 * self.election_timeout(), taken_over).await {
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
        // Its lease, which would keep it from voting, was given up with the leadership.
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

    /// The replica to hand the leadership to.
    fn transfer_target(&self, to: Option<ReplicaId>) -> Result<ReplicaId, TransferError> {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        let is_other_voter = |id: &ReplicaId| {
            let mut voters = metrics.membership_config.voter_ids();
            *id != self.replica() && voters.any(|voter| voter == *id)
        };
        let answers = |id: &ReplicaId| {
            let silence = self.silence_by(&metrics, *id);
            silence.is_some_and(|silence| silence < self.election_timeout())
        };
        if let Some(target) = to {
            return match (is_other_voter(&target), answers(&target)) {
                (false, _) => Err(TransferError::NoTarget),
                (true, false) => Err(TransferError::Silent(target)),
                (true, true) => Ok(target),
            };
        }
        let replication = metrics.replication.iter().flatten();
        let mut others = replication.filter(|(id, _)| is_other_voter(id)).peekable();
        let first = others.peek().map(|(id, _)| **id);
        let first = first.ok_or(TransferError::NoTarget)?;
        others
            .filter(|(id, _)| answers(id))
            .max_by_key(|(_, matched)| matched.as_ref().map(|id| id.index))
            .map(|(id, _)| *id)
            .ok_or(TransferError::Silent(first))
    }
}
