//! [`Consensus`]: the interface of consensus to the rest of the server.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use openraft::Raft;
use openraft::alias::OneshotReceiverOf;
use openraft::errors::{ClientWriteError, ForwardReason, ForwardToLeader};
use openraft::impls::ProgressResponder;
use openraft::raft::ClientWriteResult;
use synod_machine::{DamagedMemory, State};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::acknowledgements::Acknowledgements;
use super::ballot::Ballot;
use super::checkpoints::Checkpoints;
use super::config::ConsensusConfig;
use super::contact::Contact;
use super::digests::Digests;
use super::doubt::Doubt;
use super::error::{NotExecuted, ProposeError, Stopped, WaitError};
use super::fatal::{Alarm, Fatal};
use super::leadership::Leadership;
use super::log_storage::LogStorage;
use super::memory::Memory;
use super::noted::Noted;
use super::published::{AppliedEntry, Progress, Published, Publisher};
use super::state_machine::StateMachine;
use super::stated_cuts::StatedCuts;
use super::timing::Timing;
use super::types::{Payload, TypeConfig, leader_id};
use super::{ReplicaAddress, ReplicaId, Term};
use crate::peer::{PeerClients, PeerIdentity};
use crate::seams::{Seams, watch};

/// How long to wait for a checkpoint before it is asked for again.
const CHECKPOINT_ASKED_AGAIN: Duration = Duration::from_secs(1);

/// A replica's part in the replicated log. Clones are handles to the same part.
#[derive(Clone)]
pub struct Consensus {
    pub(super) shared: Arc<ConsensusParts>,
}

pub(super) struct ConsensusParts {
    pub(super) raft: Raft<TypeConfig, StateMachine>,
    pub(super) storage: LogStorage,
    pub(super) config: ConsensusConfig,
    pub(super) me: PeerIdentity,
    pub(super) publisher: Publisher,
    pub(super) leadership: watch::Receiver<Leadership>,
    pub(super) alarm: Alarm,
    pub(super) ballot: Ballot,
    /// False once this replica is about to end: it then starts no election.
    pub(super) may_stand: AtomicBool,
    pub(super) stated_cuts: StatedCuts,
    pub(super) memory: Memory,
    pub(super) digests: Digests,
    pub(super) doubt: Doubt,
    /// Whose connections to this replica ended, and who has not been checked since.
    pub(super) lost: Noted,
    /// Who answers heartbeats anew.
    pub(super) back: Arc<Noted>,
    pub(super) acknowledgements: Arc<Acknowledgements>,
    pub(super) contact: Contact,
    pub(super) timing: Timing,
    pub(super) checkpoints: Checkpoints,
    pub(super) peers: PeerClients,
    /// Held by a change of the replica set while this replica carries it out.
    pub(super) changing: Arc<tokio::sync::Mutex<()>>,
    pub(super) seams: Seams,
    /// The task of [`super::upkeep`]. It ends after Raft, with the log sealed and the data directory closed.
    pub(super) upkeep: Mutex<Option<JoinHandle<()>>>,
}

impl ConsensusParts {
    pub(super) fn set_upkeep(&self, task: JoinHandle<()>) {
        *self.upkeep.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    fn take_upkeep(&self) -> Option<JoinHandle<()>> {
        self.upkeep
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// A proposal that was handed to the log. A future of its outcome, which resolves once the entry is applied here.
pub struct Pending {
    outcome: OneshotReceiverOf<TypeConfig, ClientWriteResult<TypeConfig>>,
    me: ReplicaId,
}

impl Consensus {
    /// This replica, its cluster and its data directory.
    #[must_use]
    pub fn identity(&self) -> &PeerIdentity {
        &self.shared.me
    }

    /// This replica.
    #[must_use]
    pub fn replica(&self) -> ReplicaId {
        self.shared.me.replica
    }

    /// Hands `payload`, an encoded log entry, to Raft. Entries take their places in the log in the order of these
    /// calls. With `only_in`, the proposal is refused unless this replica leads in exactly that term.
    ///
    /// # Errors
    ///
    /// [`ProposeError::Stopped`], or [`NotExecuted::Doubt`]; every other error comes from [`Pending`].
    pub async fn submit(
        &self,
        payload: Bytes,
        only_in: Option<Term>,
    ) -> Result<Pending, ProposeError> {
        if self.in_doubt() {
            return Err(ProposeError::NotExecuted(NotExecuted::Doubt));
        }
        let (responder, outcome) = ProgressResponder::complete_only();
        let mut write = self
            .shared
            .raft
            .write(Payload(payload))
            .responder(responder);
        if let Some(term) = only_in {
            write = write.with_leader(leader_id(term, self.replica()));
        }
        write.await.map_err(|_| ProposeError::Stopped)?;
        Ok(Pending {
            outcome,
            me: self.replica(),
        })
    }

    /// [`Self::submit`], and waits for the outcome.
    ///
    /// # Errors
    ///
    /// See [`ProposeError`]; all but [`ProposeError::Unknown`] mean that nothing was and nothing will be executed.
    pub async fn propose(
        &self,
        payload: Bytes,
        only_in: Option<Term>,
    ) -> Result<Arc<AppliedEntry>, ProposeError> {
        self.submit(payload, only_in).await?.await
    }

    /// Waits until `index` is applied here. Returns the state published then.
    ///
    /// # Errors
    ///
    /// When `deadline` passes first, or this replica stops.
    pub async fn wait_applied(
        &self,
        index: u64,
        deadline: Instant,
    ) -> Result<Arc<Published>, WaitError> {
        let mut progress = self.subscribe();
        let applied = progress.wait_for(|progress| progress.applied_index >= index);
        match tokio::time::timeout_at(deadline, applied).await {
            Ok(Ok(_)) => Ok(self.published()),
            Ok(Err(watch::Closed)) => Err(WaitError::Stopped),
            Err(_) => Err(WaitError::DeadlineExceeded),
        }
    }

    /// The state after the last applied entry. Takes no lock.
    #[must_use]
    pub fn published(&self) -> Arc<Published> {
        self.shared.publisher.latest()
    }

    /// Changes whenever something is published.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<Progress> {
        self.shared.publisher.subscribe()
    }

    /// Who leads, and in which term, as it changes. The present value counts as seen by the receiver.
    #[must_use]
    pub fn leadership(&self) -> watch::Receiver<Leadership> {
        let mut leadership = self.shared.leadership.clone();
        leadership.borrow_and_update();
        leadership
    }

    /// The longest election timeout. It is also the lease: a leader that no quorum has answered for this long takes no
    /// proposals.
    #[must_use]
    pub fn election_timeout(&self) -> Duration {
        self.shared.config.election_timeout_max
    }

    /// From now on this replica does not stand for election, because it is about to end: whoever it hands the leadership to
    /// could lose it to this one while it takes over. It still votes.
    pub fn stand_no_more(&self) {
        self.shared.may_stand.store(false, Ordering::Release);
        self.shared.raft.runtime_config().elect(false);
    }

    /// The replica set.
    #[must_use]
    pub fn replicas(&self) -> BTreeMap<ReplicaId, ReplicaAddress> {
        let metrics = self.shared.raft.server_metrics();
        let membership = metrics.borrow().membership_config.clone();
        membership
            .nodes()
            .map(|(id, address)| (*id, address.clone()))
            .collect()
    }

    /// The clients of the other replicas' peer services.
    #[must_use]
    pub fn peers(&self) -> &PeerClients {
        &self.shared.peers
    }

    /// Requests that a checkpoint be written soon.
    ///
    /// # Errors
    ///
    /// When this replica is stopping.
    pub async fn checkpoint(&self) -> Result<(), Stopped> {
        self.shared
            .raft
            .trigger()
            .snapshot()
            .await
            .map_err(|_| Stopped)
    }

    /// Has a checkpoint written that covers all that is applied here now. Returns the last index that it covers.
    ///
    /// # Errors
    ///
    /// When `deadline` passes first, or this replica stops.
    pub async fn checkpoint_now(&self, deadline: Instant) -> Result<u64, WaitError> {
        let wanted = self.published().applied_index();
        let mut metrics = self.shared.raft.metrics();
        while Instant::now() < deadline {
            // openraft ignores a request while it writes a checkpoint, so it may have to be asked again.
            self.checkpoint()
                .await
                .map_err(|Stopped| WaitError::Stopped)?;
            let until = deadline.min(Instant::now() + CHECKPOINT_ASKED_AGAIN);
            loop {
                let covered = metrics.borrow_and_update().snapshot;
                if let Some(covered) = covered.filter(|covered| covered.index >= wanted) {
                    return Ok(covered.index);
                }
                match tokio::time::timeout_at(until, metrics.changed()).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return Err(WaitError::Stopped),
                    Err(_) => break,
                }
            }
        }
        Err(WaitError::DeadlineExceeded)
    }

    /// A state, after it was found to be what apply has made. Takes as long as all of its rows need to be read.
    ///
    /// # Errors
    ///
    /// The memory that holds it is damaged.
    pub(crate) async fn check_memory(&self, state: State) -> Result<State, DamagedMemory> {
        let check = move || state.check_memory().map(|()| state);
        self.shared.seams.offload.run(check).await
    }

    /// Ends this replica's part: no entry is written or applied after this, the log is sealed, and another process may
    /// open the data directory.
    pub async fn shutdown(&self) {
        // Raft's task may have panicked; then it has stopped, which is all that is needed here.
        let _ = self.shared.raft.shutdown().await;
        if let Some(upkeep) = self.shared.take_upkeep() {
            // An upkeep task that panicked has ended, too.
            let _ = upkeep.await;
        }
    }

    /// Whether the replicas' states are known to differ and no one can tell which is right: writes are refused then.
    #[must_use]
    pub fn in_doubt(&self) -> bool {
        self.shared.doubt.reason().is_some()
    }

    /// Whether this replica votes for whoever is elected by Raft, and stands itself: not while it may have lost what it had
    /// acknowledged.
    #[must_use]
    pub fn may_vote(&self) -> bool {
        self.shared.ballot.is_open()
    }

    /// Why writes are refused while the replicas' states differ, and what to do.
    #[must_use]
    pub fn doubt(&self) -> Option<&'static str> {
        self.shared.doubt.reason()
    }

    /// Resolves when this replica must end.
    pub async fn fatal(&self) -> Fatal {
        self.shared.alarm.raised().await
    }
}

impl Future for Pending {
    type Output = Result<Arc<AppliedEntry>, ProposeError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = std::task::ready!(Pin::new(&mut self.outcome).poll(context));
        Poll::Ready(match outcome {
            Ok(Ok(response)) => Ok(response.data),
            Ok(Err(error)) => Err(propose_error(error, self.me)),
            // Raft's task ended while the entry was in progress: it may be on other replicas already.
            Err(_) => Err(ProposeError::Unknown),
        })
    }
}

/// A refusal for a wrong term may name this replica itself; passing that on would send the caller in circles.
fn hint(forward: &ForwardToLeader<TypeConfig>, me: ReplicaId) -> Option<ReplicaId> {
    forward.leader_id.filter(|leader| *leader != me)
}

fn propose_error(error: ClientWriteError<TypeConfig>, me: ReplicaId) -> ProposeError {
    match error {
        ClientWriteError::ForwardToLeader(forward) => match forward.reason {
            ForwardReason::NotLeader => ProposeError::NotLeader {
                hint: hint(&forward, me),
            },
            ForwardReason::LeadershipTransfer => {
                ProposeError::NotExecuted(NotExecuted::Transferring)
            }
            ForwardReason::LeaseExpired => ProposeError::NotExecuted(NotExecuted::NoQuorum),
        },
        ClientWriteError::LogEntryDiscarded(_) => ProposeError::Unknown,
        // Neither error can come from a write of commands; if one did, the outcome would be unknown.
        ClientWriteError::ChangeMembershipError(_) | ClientWriteError::PreconditionFailed(_) => {
            ProposeError::Unknown
        }
    }
}
