//! Lets openraft's timer tick only while a tick may do something.
//!
//! openraft ticks every fifth of a heartbeat, to ask whether a heartbeat is due or an election is. In an idle cluster the
//! answer is known: a follower whose leader has just called does not stand, and a leader whose log does not grow can be told
//! when to send heartbeats. A third of what an idle replica took of a processor were such ticks.
//!
//! A replica that writes, follows nobody or has lost its leader ticks as openraft has it, so nothing here decides when a
//! leader is given up, or by whom.

use std::sync::Arc;
use std::time::Duration;

use openraft::{Raft, ServerState};
use tokio::time::timeout;

use super::facade::ConsensusParts;
use super::state_machine::StateMachine;
use super::types::{TypeConfig, Vote};

impl ConsensusParts {
    /// Notes an append by whoever leads by this vote, if this replica follows that leader.
    pub(super) fn called_by(&self, leader: &Vote) {
        if self.raft.server_metrics().borrow().vote == *leader {
            self.contact.note();
        }
    }
}

/// Starts and stops the timer. Never ends, and nothing else must hold it up: it has heartbeats sent.
pub(super) async fn tick_when_needed(shared: Arc<ConsensusParts>) {
    let ConsensusParts {
        raft,
        config,
        contact,
        ..
    } = &*shared;
    let mut last_index = None;
    loop {
        let (state, index) = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow();
            (metrics.state, metrics.last_log_index)
        };
        let is_idle = state.is_leader() && last_index == Some(index);
        last_index = state.is_leader().then_some(index);
        let (ticks, pause) = match state {
            ServerState::Leader => {
                let is_told = is_idle && beat(raft, config.heartbeat).await;
                (!is_told, config.heartbeat)
            }
            ServerState::Follower | ServerState::Learner => {
                // Whatever the lease, none stands sooner after its leader called.
                let calm = config.election_timeout_min;
                let silence = contact.silence();
                let left = silence.and_then(|silence| calm.checked_sub(silence));
                let left = left.filter(|left| !left.is_zero());
                (left.is_none(), left.unwrap_or(config.heartbeat))
            }
            ServerState::Candidate | ServerState::Shutdown => (true, config.heartbeat),
        };
        raft.runtime_config().tick(ticks);
        // Who loses the leader does not wait until the pause is over.
        let _ = timeout(pause, contact.lost()).await;
    }
}

/// Has the leader send heartbeats. False if the queue of Raft's requests has no room for it: only ticks go past it.
async fn beat(raft: &Raft<TypeConfig, StateMachine>, heartbeat: Duration) -> bool {
    timeout(heartbeat, raft.trigger().heartbeat())
        .await
        .is_ok_and(|told| told.is_ok())
}
