//! What a leader waits for before it changes the replica set.

use std::collections::BTreeSet;
use std::time::Duration;

use openraft::RaftMetrics;
use synod_model::ErrorKind;
use tokio::time::{Instant, timeout_at};

use super::{SetError, refused, unavailable};
use crate::consensus::ReplicaId;
use crate::consensus::facade::Consensus;
use crate::consensus::types::TypeConfig;
use crate::limits::PROMOTED_BEHIND_MAX;

/// The longest wait for the other voters to answer, without which a set would not decide.
const QUORUM_TIMEOUT: Duration = Duration::from_secs(2);

impl Consensus {
    /// Whether a follower holds nearly all of this leader's log, and has said which machine version it knows.
    pub(super) fn is_caught_up(
        &self,
        metrics: &RaftMetrics<TypeConfig>,
        replica: ReplicaId,
    ) -> Result<(), String> {
        let matched = metrics.replication.as_ref();
        let matched = matched
            .and_then(|all| all.get(&replica))
            .and_then(Option::as_ref);
        let Some(matched) = matched else {
            return Err(format!(
                "replica {replica} has not taken any entry of the log yet"
            ));
        };
        let behind = metrics
            .last_log_index
            .unwrap_or(0)
            .saturating_sub(matched.index);
        if behind > PROMOTED_BEHIND_MAX {
            return Err(format!(
                "replica {replica} is {behind} entries behind, and a voter must not be more than {PROMOTED_BEHIND_MAX}"
            ));
        }
        let published = self.published();
        let mut announced = published.state.replicas();
        // While writes are refused it cannot announce itself, and may be what ends that.
        if !self.in_doubt() && !announced.any(|(id, _)| id == replica) {
            return Err(format!("replica {replica} has not announced itself yet"));
        }
        Ok(())
    }

    /// Waits until a majority of these voters has answered a heartbeat that was sent after this call. A change that only a
    /// dead majority could decide would stop all others, too.
    /// `newcomer` must be among those that answer.
    pub(super) async fn wait_for_quorum(
        &self,
        voters: &BTreeSet<ReplicaId>,
        newcomer: Option<ReplicaId>,
        deadline: Instant,
    ) -> Result<(), SetError> {
        let began = self.shared.acknowledgements.stamp();
        let silent = |metrics: &RaftMetrics<TypeConfig>| {
            let answers = |voter: &ReplicaId| {
                *voter == self.replica() || self.last_acknowledged(metrics, *voter) > Some(began)
            };
            let silent: Vec<String> = voters
                .iter()
                .filter(|voter| !answers(voter))
                .map(ToString::to_string)
                .collect();
            if let Some(newcomer) = newcomer.filter(|newcomer| !answers(newcomer)) {
                return Err(format!("replica {newcomer} does not answer"));
            }
            if 2 * silent.len() < voters.len() {
                return Ok(());
            }
            Err(format!(
                "the set would have no majority that answers: replica {} does not",
                silent.join(" does not, and replica ")
            ))
        };
        let deadline = deadline.min(Instant::now() + QUORUM_TIMEOUT);
        let answered = self.wait_until(deadline, silent);
        answered.await.map_err(|error| match error {
            // To try again at once is of no use.
            SetError::Refused(refusal) => refused(ErrorKind::Conflict, refusal.message),
            other => other,
        })
    }

    /// Waits until the leader finds something to be so. Refuses with what it found last.
    pub(super) async fn wait_until(
        &self,
        deadline: Instant,
        is_so: impl Fn(&RaftMetrics<TypeConfig>) -> Result<(), String>,
    ) -> Result<(), SetError> {
        let mut metrics = self.shared.raft.metrics();
        loop {
            let found = {
                let metrics = metrics.borrow_and_update();
                if !metrics.state.is_leader() {
                    let hint = metrics.current_leader;
                    return Err(SetError::NotLeader { hint });
                }
                is_so(&metrics)
            };
            let Err(reason) = found else { return Ok(()) };
            match timeout_at(deadline, metrics.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(unavailable("this replica is stopping")),
                Err(_) => return Err(unavailable(&reason)),
            }
        }
    }
}
