//! Read indexes, and how lately this leader was followed by a quorum.
//!
//! A read index is confirmed by appends of this leader that were sent after it was asked for: see [`super::acknowledgements`].
//! Each question has openraft send heartbeats, of which questions that come together share the answers. Nothing here trusts the
//! clocks that openraft keeps of its followers.

use std::sync::Arc;
use std::time::Duration;

use openraft::{RaftMetrics, RaftState};
use tokio::time::timeout;

use super::acknowledgements::SendStamp;
use super::error::ReadIndexError;
use super::facade::{Consensus, ConsensusParts};
use super::leadership::Leadership;
use super::types::{CommittedLeaderId, LogId, StoredMembership, TypeConfig, position_of};
use super::{Position, ReplicaId};
use crate::seams::watch;

/// What Raft's task knows of this replica's leadership at one moment.
struct Lead {
    id: CommittedLeaderId,
    /// The last entry that a read has to wait for.
    index: LogId,
    /// The replica set in force: the last one in the log, whether or not it is committed.
    set: Arc<StoredMembership>,
}

impl Lead {
    /// # Errors
    ///
    /// The leader as far as it is known, if this replica does not lead.
    fn of_state(state: &RaftState<TypeConfig>, me: ReplicaId) -> Result<Self, Option<ReplicaId>> {
        let vote = state.vote_ref();
        let id = vote.leader_id;
        let leader = vote.committed.then_some(id.node_id);
        if leader != Some(me) || !state.server_state.is_leader() {
            return Err(leader.filter(|leader| *leader != me));
        }
        let written_in_term = |entry: &&LogId| entry.leader_id == id;
        let committed = state.local_committed().filter(written_in_term);
        // Until an entry of its own term is committed, a leader does not know which of the entries before are.
        let index = committed.or_else(|| state.log_ids.last().filter(written_in_term));
        Ok(Self {
            id,
            index: *index.ok_or(None)?,
            set: Arc::clone(state.membership_state.effective()),
        })
    }
}

impl Consensus {
    /// A log position: a state that has applied it holds every write that was acknowledged by any replica before this call. A
    /// quorum confirms, by answers to what was sent after this call, that this replica leads. The position was written by this
    /// replica in the term in which it leads.
    ///
    /// # Errors
    ///
    /// See [`ReadIndexError`]. Gives up when no quorum has answered for one election timeout.
    pub async fn read_index(&self) -> Result<Position, ReadIndexError> {
        let asked = self.shared.acknowledgements.stamp();
        let confirmed = async {
            let lead = self.lead().await?;
            self.confirm(&lead, asked).await?;
            Ok(position_of(&lead.index))
        };
        timeout(self.election_timeout(), confirmed)
            .await
            .unwrap_or(Err(ReadIndexError::NoQuorum))
    }

    /// Has heartbeats sent, and asks Raft's task whether this replica leads.
    async fn lead(&self) -> Result<Lead, ReadIndexError> {
        let ConsensusParts { raft, me, .. } = &*self.shared;
        let stopped = |_| ReadIndexError::Stopped;
        raft.trigger().heartbeat().await.map_err(stopped)?;
        let replica = me.replica;
        let lead = raft
            .with_raft_state(move |state| Lead::of_state(state, replica))
            .await;
        lead.map_err(stopped)?
            .map_err(|hint| ReadIndexError::NotLeader { hint })
    }

    /// Waits until a quorum has acknowledged appends that were sent after `asked`.
    async fn confirm(&self, lead: &Lead, asked: SendStamp) -> Result<(), ReadIndexError> {
        let voters = lead.set.membership().get_joint_config();
        let mut acknowledged = self.shared.acknowledgements.subscribe();
        let now = self.shared.acknowledgements.stamp();
        let confirmed = acknowledged.wait_for(|latest| {
            let quorum = latest.quorum(lead.id, voters, now);
            quorum.is_some_and(|quorum| quorum > asked)
        });
        let mut leadership = self.leadership();
        let deposed = leadership.wait_for(|latest| {
            (latest.term.get(), latest.leader) > (lead.id.term, Some(lead.id.node_id))
        });
        tokio::select! {
            biased;
            confirmed = confirmed => confirmed.map(|_| ()).map_err(|watch::Closed| ReadIndexError::Stopped),
            deposed = deposed => Err(match deposed {
                Ok(Leadership { leader: hint, .. }) => ReadIndexError::NotLeader { hint },
                Err(watch::Closed) => ReadIndexError::Stopped,
            }),
        }
    }

    /// The age of the appends, heartbeats among them, that a quorum has acknowledged last, counted from when they were sent;
    /// `None` while this replica does not lead or no quorum has acknowledged any in this term yet.
    #[must_use]
    pub fn quorum_silence(&self) -> Option<Duration> {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        if !metrics.state.is_leader() {
            return None;
        }
        let voters = metrics.membership_config.membership().get_joint_config();
        let acknowledgements = &self.shared.acknowledgements;
        let now = acknowledgements.stamp();
        let quorum = acknowledgements
            .latest()
            .quorum(metrics.vote.leader_id, voters, now)?;
        Some(quorum.elapsed())
    }

    /// For how long another replica has not acknowledged an append of this leader; `None` if this replica does not lead, or the
    /// other one has not acknowledged any since it leads.
    pub(crate) fn silence(&self, replica: ReplicaId) -> Option<Duration> {
        let metrics = self.shared.raft.metrics();
        let acknowledged = self.acknowledged(&metrics.borrow(), replica);
        acknowledged.map(SendStamp::elapsed)
    }

    /// When the append was sent that another replica acknowledged last; `None` as for [`Self::silence`].
    pub(super) fn acknowledged(
        &self,
        metrics: &RaftMetrics<TypeConfig>,
        replica: ReplicaId,
    ) -> Option<SendStamp> {
        if !metrics.state.is_leader() {
            return None;
        }
        let latest = self.shared.acknowledgements.latest();
        latest.sent(metrics.vote.leader_id, replica)
    }
}
