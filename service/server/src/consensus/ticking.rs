//! Lets openraft's timer tick only while a tick may do something.
//!
//! openraft ticks every fifth of a heartbeat, to ask whether a heartbeat is due or an election is. In an idle cluster the
//! answer is known: a follower stands for nothing while its leader's lease lasts, and a leader whose log does not grow can
//! be told when to send heartbeats. Nearly half of what an idle replica took of a processor were such ticks.
//!
//! A replica that writes, follows nobody or has lost its leader ticks as openraft has it, so nothing here decides when a
//! leader is given up, or by whom.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openraft::Raft;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::facade::ConsensusParts;
use super::state_machine::StateMachine;
use super::types::TypeConfig;

/// When this replica last took something from a leader that it follows.
#[derive(Debug, Default)]
pub(super) struct Contact {
    last: Mutex<Option<Instant>>,
    lost: Notify,
}

impl Contact {
    pub(super) fn note(&self) {
        *self.lock() = Some(Instant::now());
    }

    /// Notes that the leader has let go of this replica, or the other way round.
    pub(super) fn lose(&self) {
        *self.lock() = None;
        self.lost.notify_one();
    }

    /// How long ago that was; `None` if it never was.
    fn silence(&self) -> Option<Duration> {
        self.lock().map(|last| last.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts and stops the timer, for as long as Raft runs.
pub(super) async fn tick_when_needed(shared: &ConsensusParts) {
    let ConsensusParts {
        raft,
        config,
        contact,
        ..
    } = shared;
    let lease = config.election_timeout_max;
    let mut last_index = None;
    loop {
        let (state, index) = {
            let metrics = raft.metrics();
            let metrics = metrics.borrow();
            (metrics.state, metrics.last_log_index)
        };
        let (ticks, pause) = if state.is_leader() {
            let is_idle = last_index == Some(index);
            last_index = Some(index);
            let is_told = is_idle && beat(raft, config.heartbeat).await;
            (!is_told, config.heartbeat)
        } else {
            last_index = None;
            let silence = contact.silence();
            let left = silence.and_then(|silence| lease.checked_sub(silence));
            let calm = left.filter(|left| !left.is_zero());
            (calm.is_none(), calm.unwrap_or(config.heartbeat))
        };
        raft.runtime_config().tick(ticks);
        // To lose the leader is not to wait until the pause is over.
        let _ = timeout(pause, contact.lost.notified()).await;
    }
}

/// Has the leader send heartbeats. False if Raft does not take it up by the next one: only ticks go past its queue.
async fn beat(raft: &Raft<TypeConfig, StateMachine>, heartbeat: Duration) -> bool {
    timeout(heartbeat, raft.trigger().heartbeat())
        .await
        .is_ok_and(|told| told.is_ok())
}
