//! Read indexes, and how lately this leader was followed by a quorum.
//!
//! A read index is confirmed by appends of this leader that were sent after it was asked for: see [`super::acknowledgements`].
//! Each question has openraft send heartbeats, of which questions that come together share the answers. Nothing here trusts the
//! clocks that openraft keeps of its followers.

use std::sync::Arc;
use std::time::Duration;

use openraft::{RaftMetrics, RaftState};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::acknowledgements::{Latest, SendStamp};
use super::error::ReadIndexError;
use super::facade::{Consensus, ConsensusParts};
use super::leadership::Leadership;
use super::types::{CommittedLeaderId, LogId, StoredMembership, TypeConfig, position_of};
use super::{Position, ReplicaId};
use crate::seams::watch;

/// The longest wait for an answer of Raft's task.
const RAFT_TASK_MAX: Duration = Duration::from_secs(5);

/// What Raft's task knows of this replica's leadership at one moment.
struct Lead {
    id: CommittedLeaderId,
    /// The last entry that a read has to wait for.
    index: LogId,
    /// The replica set in force: the last one in the log, whether or not it is committed.
    set: Arc<StoredMembership>,
}

/// What Raft's task knows, or the leader as far as it is known if this replica does not lead.
type LeadAnswer = Result<Lead, Option<ReplicaId>>;

impl Lead {
    fn of_state(state: &RaftState<TypeConfig>, me: ReplicaId) -> LeadAnswer {
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
        let lead = timeout(RAFT_TASK_MAX, self.ask_raft()).await;
        let lead = lead.map_err(|_| ReadIndexError::NoQuorum)??;
        // Raft's task answers before the followers do. To wait for them first, by what is known of the leadership so far, spares
        // this task a wake-up; only the answer counts.
        let known = self.known_lead();
        if let Some((leader, set)) = known {
            self.confirm(leader, &set, asked).await?;
        }
        // Raft's task is late while it waits for the disk, for which the quorum is not to blame.
        let lead = timeout(RAFT_TASK_MAX, lead).await;
        let lead = lead
            .map_err(|_| ReadIndexError::NoQuorum)?
            .map_err(|_| ReadIndexError::Stopped)?;
        let Lead { id, index, set } = lead.map_err(|hint| ReadIndexError::NotLeader { hint })?;
        self.confirm(id, &set, asked).await?;
        Ok(position_of(&index))
    }

    /// Asks Raft's task whether this replica leads, and has it send heartbeats. Returns its answer to come.
    async fn ask_raft(&self) -> Result<oneshot::Receiver<LeadAnswer>, ReadIndexError> {
        let ConsensusParts { raft, me, .. } = &*self.shared;
        let (answer, answered) = oneshot::channel();
        let replica = me.replica;
        let ask = raft.external_request(move |state| {
            // The caller may have given up.
            let _ = answer.send(Lead::of_state(state, replica));
        });
        ask.await.map_err(|_| ReadIndexError::Stopped)?;
        let heartbeats = raft.trigger().heartbeat().await;
        heartbeats.map_err(|_| ReadIndexError::Stopped)?;
        Ok(answered)
    }

    /// The leadership of this replica and the replica set, as Raft's task has reported them last.
    fn known_lead(&self) -> Option<(CommittedLeaderId, Arc<StoredMembership>)> {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        let leads = metrics.state.is_leader();
        leads.then(|| {
            let set = Arc::clone(&metrics.membership_config);
            (metrics.vote.leader_id, set)
        })
    }

    /// Waits until a quorum of the replica set has acknowledged appends of this leader that were sent after `asked`.
    ///
    /// # Errors
    ///
    /// When it has not within an election timeout, or another leader is known.
    async fn confirm(
        &self,
        leader: CommittedLeaderId,
        set: &StoredMembership,
        asked: SendStamp,
    ) -> Result<(), ReadIndexError> {
        let voters = set.membership().get_joint_config();
        let acknowledgements = &self.shared.acknowledgements;
        let now = acknowledgements.stamp();
        let is_confirmed = |latest: &Latest| {
            let quorum = latest.quorum(leader, voters, now);
            quorum.is_some_and(|quorum| quorum > asked)
        };
        let mut acknowledged = acknowledgements.subscribe();
        let confirmed = acknowledged.wait_for(is_confirmed);
        let mut leadership = self.leadership();
        let deposed = leadership.wait_for(|latest| {
            (latest.term.get(), latest.leader) > (leader.term, Some(leader.node_id))
        });
        let decided = async {
            tokio::select! {
                biased;
                confirmed = confirmed => confirmed.map(drop).map_err(|watch::Closed| ReadIndexError::Stopped),
                deposed = deposed => Err(match deposed {
                    Ok(Leadership { leader: hint, .. }) => ReadIndexError::NotLeader { hint },
                    Err(watch::Closed) => ReadIndexError::Stopped,
                }),
            }
        };
        timeout(self.election_timeout(), decided)
            .await
            .unwrap_or(Err(ReadIndexError::NoQuorum))
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
