//! Follows who leads, as Raft reports it.

use openraft::Raft;

use super::acknowledgements::Acknowledgements;
use super::fatal::{Alarm, Fatal};
use super::state_machine::StateMachine;
use super::types::TypeConfig;
use super::{ReplicaId, Term};
use crate::seams::watch;

/// Who leads, as far as this replica knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leadership {
    /// The term of the latest election that this replica knows of.
    pub term: Term,
    /// The leader of that term; `None` while the election is open.
    pub leader: Option<ReplicaId>,
    /// Whether this replica leads.
    pub is_me: bool,
}

/// Follows Raft for as long as it runs: publishes who leads, and raises the alarm when Raft stops by itself.
pub(super) async fn follow(
    raft: &Raft<TypeConfig, StateMachine>,
    me: ReplicaId,
    told: watch::Sender<Leadership>,
    acknowledgements: &Acknowledgements,
    alarm: &Alarm,
) {
    let mut metrics = raft.server_metrics();
    let mut led = None;
    loop {
        let (now, voted) = {
            let metrics = metrics.borrow_and_update();
            let voted = metrics.vote.leader_id;
            // A leader that restarted still has its committed vote, but does not lead.
            let leads =
                metrics.vote.committed && (voted.node_id != me || metrics.state.is_leader());
            let leader = leads.then_some(voted.node_id);
            let now = Leadership {
                term: Term::new(voted.term),
                leader,
                is_me: leader == Some(me),
            };
            (now, voted)
        };
        if now.is_me && led != Some(voted) {
            led = Some(voted);
            acknowledgements.begin(voted);
        }
        told.send_if_modified(|before| {
            let changed = *before != now;
            if changed {
                tracing::info!(term = %now.term, leader = ?now.leader.map(ReplicaId::get), "the leadership changed");
            }
            *before = now;
            changed
        });
        if metrics.changed().await.is_err() {
            break;
        }
    }
    // Raft's task has ended. Its state says why, unless it panicked.
    let ended = raft.metrics().borrow().running_state.clone();
    match ended {
        Ok(()) | Err(openraft::errors::Fatal::Panicked) => alarm.raise(Fatal::Panicked),
        Err(openraft::errors::Fatal::Stopped) => {}
        Err(openraft::errors::Fatal::StorageError(error)) => {
            alarm.raise(Fatal::Storage(error.to_string()))
        }
    }
}
