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

use super::acknowledgements::{AcknowledgedAppends, SendStamp};
use super::error::ReadIndexError;
use super::facade::{Consensus, ConsensusParts};
use super::leadership::Leadership;
use super::types::{CommittedLeaderId, LogId, StoredMembership, TypeConfig, position_of};
use super::{Position, ReplicaId};
use crate::seams::watch;

/// The longest wait for an answer of Raft's task.
const RAFT_TASK_MAX: Duration = Duration::from_secs(5);

/// This replica's leadership as Raft's task sees it.
struct LeadershipSnapshot {
    id: CommittedLeaderId,
    /// The last entry that a read has to wait for.
    index: LogId,
    /// The replica set in force: the last one in the log, whether or not it is committed.
    set: Arc<StoredMembership>,
}

/// The snapshot, or the known leader if this replica does not lead.
type LeadershipAnswer = Result<LeadershipSnapshot, Option<ReplicaId>>;

impl LeadershipSnapshot {
    fn of_state(state: &RaftState<TypeConfig>, me: ReplicaId) -> LeadershipAnswer {
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
    /// See [`ReadIndexError`]. Gives up when no quorum has answered for one election timeout after Raft's task has sent the
    /// heartbeats, for which it has [`RAFT_TASK_MAX`].
    pub async fn read_index(&self) -> Result<Position, ReadIndexError> {
        let asked = self.shared.acknowledgements.stamp();
        let answer = timeout(RAFT_TASK_MAX, self.ask_raft()).await;
        let answer = answer.map_err(|_| ReadIndexError::NoQuorum)??;
        // Raft's task answers before the followers do. To wait for them first, by what is known of the leadership so far, spares
        // this task a wake-up; only the answer counts.
        if let Some((leader, set)) = self.known_lead() {
            let confirmed = self.confirm(leader, &set, asked).await;
            // A task that has not answered has sent no heartbeats: it waits for the disk.
            let is_late = confirmed == Err(ReadIndexError::NoQuorum) && answer.is_empty();
            if !is_late {
                confirmed?;
            }
        }
        let answered = timeout(RAFT_TASK_MAX, answer).await;
        let answered = answered.map_err(|_| ReadIndexError::NoQuorum)?;
        let snapshot = answered.map_err(|_| ReadIndexError::Stopped)?;
        let LeadershipSnapshot { id, index, set } =
            snapshot.map_err(|hint| ReadIndexError::NotLeader { hint })?;
        self.confirm(id, &set, asked).await?;
        Ok(position_of(&index))
    }

    /// Asks Raft's task whether this replica leads, and has it send heartbeats. Returns its answer to come.
    async fn ask_raft(&self) -> Result<oneshot::Receiver<LeadershipAnswer>, ReadIndexError> {
        let ConsensusParts { raft, me, .. } = &*self.shared;
        let (answer, answered) = oneshot::channel();
        let replica = me.replica;
        let ask = raft.external_request(move |state| {
            // The caller may have given up.
            let _ = answer.send(LeadershipSnapshot::of_state(state, replica));
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
        let is_confirmed = |latest: &AcknowledgedAppends| {
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

    /// Returns for how long another replica has acknowledged no append of this leader, but no longer than it leads. `None` if this
    /// replica does not lead.
    pub(crate) fn silence(&self, replica: ReplicaId) -> Option<Duration> {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        self.silence_by(&metrics, replica)
    }

    /// Returns [`Self::silence`] of the leadership in `metrics`.
    pub(super) fn silence_by(
        &self,
        metrics: &RaftMetrics<TypeConfig>,
        replica: ReplicaId,
    ) -> Option<Duration> {
        let begun = self.last_acknowledged(metrics, self.replica());
        let last = self.last_acknowledged(metrics, replica).max(begun);
        // Raft's task leads already, and the begin is not recorded yet.
        let silence = last.map_or(Duration::ZERO, SendStamp::elapsed);
        metrics.state.is_leader().then_some(silence)
    }

    /// Returns when the last append was sent that `replica` acknowledged to this leader.
    pub(super) fn last_acknowledged(
        &self,
        metrics: &RaftMetrics<TypeConfig>,
        replica: ReplicaId,
    ) -> Option<SendStamp> {
        if !metrics.state.is_leader() {
            return None;
        }
        let latest = self.shared.acknowledgements.latest();
        latest.last_sent(metrics.vote.leader_id, replica)
    }
}
