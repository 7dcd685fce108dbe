//! Changes of the replica set, as the leader carries them out.
//!
//! Raft's membership is the only record of the set. A change is a step of joint consensus: two majorities decide while it
//! is under way, so no two leaders can ever decide apart. What would stop the set is refused before it is written: a
//! voter that is far behind, and a set of which too few answer.

mod conditions;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use openraft::ChangeMembers;
use openraft::errors::{ChangeMembershipError, ClientWriteError, ForwardReason, RaftError};
use openraft::raft::Precondition;
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::key::NOT_EXECUTED;
use tokio::time::{Instant, timeout_at};

use super::facade::{Consensus, ConsensusParts};
use super::types::{LogId, TypeConfig};
use super::{Leadership, ReadIndexError, ReplicaAddress, ReplicaId, TransferError, WaitError};
use crate::limits::REPLICAS_MAX;
use crate::peer::PeerError;
use crate::peer::messages::{HelloResponse, SetChange};

/// The longest wait for the identity of a replica that is to be added.
const HELLO_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest wait for a learner to catch up. Who asks does it again, and is told meanwhile how far it has come.
const CAUGHT_UP_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a leader looks for a change that an earlier one has left half done.
const LOOK: Duration = Duration::from_secs(1);

/// Why a change was not carried out here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SetError {
    /// This replica does not lead. Nothing was changed.
    NotLeader {
        /// Who leads, as far as this replica knows.
        hint: Option<ReplicaId>,
    },
    /// Nothing was changed, for this reason.
    Refused(Refusal),
    /// The change was written, and it is not known whether it counts.
    Unknown,
}

/// The replica set as this replica's log has it, committed or not.
struct SetView {
    decided: Option<LogId>,
    voters: BTreeSet<ReplicaId>,
    replicas: BTreeMap<ReplicaId, ReplicaAddress>,
    is_joint: bool,
}

type Members = ChangeMembers<ReplicaId, ReplicaAddress>;

impl Consensus {
    /// Carries out a change in a task of its own, which goes on if the caller gives up: a change that is given up stays half
    /// done until the next look.
    ///
    /// Returns whether anything was changed.
    pub(crate) async fn change_set_here(
        &self,
        change: SetChange,
        deadline: Instant,
    ) -> Result<bool, SetError> {
        let consensus = self.clone();
        // Its refusal must come before nobody waits any more.
        let left = deadline.saturating_duration_since(Instant::now());
        let soon = Instant::now() + left * 9 / 10;
        let carried = tokio::spawn(async move { consensus.change_set(&change, soon).await });
        match timeout_at(deadline, carried).await {
            Ok(Ok(changed)) => changed,
            Ok(Err(_)) | Err(_) => Err(SetError::Unknown),
        }
    }

    /// Carries out a change of the set if this replica leads. One at a time; the rest of a change that an earlier leader
    /// began comes first. Asked again after it was carried out, it changes nothing.
    async fn change_set(&self, change: &SetChange, deadline: Instant) -> Result<bool, SetError> {
        let turn = timeout_at(deadline, self.shared.changing.lock());
        let Ok(_turn) = turn.await else {
            return Err(unavailable(
                "another change of the replica set is under way",
            ));
        };
        let Leadership { leader, is_me, .. } = *self.shared.leadership.borrow();
        if !is_me {
            return Err(SetError::NotLeader { hint: leader });
        }
        self.catch_up(deadline).await?;
        self.finish_change().await?;
        match change {
            SetChange::Add { replica, peer } => self.add(*replica, peer, deadline).await,
            SetChange::Promote { replica, replaces } => {
                self.promote(*replica, *replaces, deadline).await
            }
            SetChange::Remove { replica } => self.remove(*replica, deadline).await,
            SetChange::Lead {
                from: Some(from), ..
            } if *from != self.replica() => Ok(false),
            SetChange::Lead { replica, .. } => self.hand_over(*replica).await,
        }
    }

    /// Waits until this leader has applied all that was decided before: who has left is known from then on.
    async fn catch_up(&self, deadline: Instant) -> Result<(), SetError> {
        let position = self.read_index().await.map_err(|error| match error {
            ReadIndexError::NotLeader { hint } => SetError::NotLeader { hint },
            ReadIndexError::NoQuorum | ReadIndexError::Stopped => unavailable(&error.to_string()),
        })?;
        let applied = self.wait_applied(position.index, deadline).await;
        applied.map(drop).map_err(|error| match error {
            WaitError::DeadlineExceeded => unavailable("the leader has much to apply first"),
            WaitError::Stopped => unavailable("this replica is stopping"),
        })
    }

    async fn add(
        &self,
        replica: ReplicaId,
        peer: &str,
        deadline: Instant,
    ) -> Result<bool, SetError> {
        let set = self.set();
        if let Some(known) = set.replicas.get(&replica) {
            return if known.peer == peer {
                Ok(false)
            } else {
                let message = format!(
                    "replica {replica} is in the replica set, at {}: give the new one an id that no replica has had",
                    known.peer
                );
                Err(refused(ErrorKind::AlreadyExists, message))
            };
        }
        if self.published().state.has_left(replica) {
            let message = format!(
                "replica {replica} has left the replica set, and its id is never used again: give the new one an id that no \
                 replica has had"
            );
            return Err(refused(ErrorKind::AlreadyExists, message));
        }
        // Its address may be that of a replica that is lost: each call names whom it is for.
        if set.replicas.len() >= REPLICAS_MAX {
            let message =
                format!("the replica set has {REPLICAS_MAX} replicas, and no more are possible");
            return Err(refused(ErrorKind::Quota, message));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let hello = self
            .peers()
            .newcomer(replica, peer, left.min(HELLO_TIMEOUT));
        let hello = hello.await.map_err(|error| match error {
            PeerError::Refused(refusal) => {
                let message = format!(
                    "whoever answers at {peer} refuses the replicas of this cluster: {refusal}"
                );
                refused(ErrorKind::Conflict, message)
            }
            error => unavailable(&format!(
                "no replica answers at {peer}: {error}; start it with --join"
            )),
        })?;
        self.check_newcomer(replica, peer, &hello)?;
        let address = ReplicaAddress {
            peer: peer.to_owned(),
            directory: hello.directory,
        };
        let members = ChangeMembers::AddNodes(BTreeMap::from([(replica, address)]));
        self.decide(members, set.decided).await?;
        Ok(true)
    }

    /// Refuses a replica that is another one than was named, that has data, or that does not know what is in force.
    fn check_newcomer(
        &self,
        replica: ReplicaId,
        peer: &str,
        hello: &HelloResponse,
    ) -> Result<(), SetError> {
        if hello.replica != replica {
            let message = format!(
                "replica {} answers at {peer}, and not replica {replica}",
                hello.replica
            );
            return Err(refused(ErrorKind::Conflict, message));
        }
        if hello.initialized {
            let message = format!(
                "replica {replica} has data of a cluster: only a replica with an empty data directory can be added"
            );
            return Err(refused(ErrorKind::Conflict, message));
        }
        let in_force = self.published().state.machine_version();
        if !(hello.machine_version_min..=hello.machine_version_max).contains(&in_force) {
            let message = format!(
                "replica {replica} runs {}, which does not know machine version {in_force} that is in force: start it with \
                 the release of the others",
                hello.version
            );
            return Err(refused(ErrorKind::Conflict, message));
        }
        Ok(())
    }

    async fn promote(
        &self,
        replica: ReplicaId,
        replaces: Option<ReplicaId>,
        deadline: Instant,
    ) -> Result<bool, SetError> {
        let set = self.set();
        if !set.replicas.contains_key(&replica) {
            return Err(self.not_in_set(replica));
        }
        let leaving = match replaces {
            Some(old) if set.replicas.contains_key(&old) => Some(old),
            Some(old) if !self.published().state.has_left(old) => return Err(self.not_in_set(old)),
            Some(_) | None => None,
        };
        if set.voters.contains(&replica) && leaving.is_none() {
            return Ok(false);
        }
        let soon = deadline.min(Instant::now() + CAUGHT_UP_TIMEOUT);
        self.wait_until(soon, |metrics| self.is_caught_up(metrics, replica))
            .await?;
        let mut voters = set.voters.clone();
        voters.insert(replica);
        if leaving == Some(self.replica()) {
            // Whoever is the only voter needs another one to hand the leadership to.
            if set.voters.len() == 1 {
                self.wait_for_quorum(&voters, Some(replica), deadline)
                    .await?;
                let members = ChangeMembers::AddVoterIds(BTreeSet::from([replica]));
                self.decide(members, set.decided).await?;
            }
            return self.give_way().await;
        }
        voters.retain(|voter| Some(*voter) != leaving);
        self.wait_for_quorum(&voters, Some(replica), deadline)
            .await?;
        let promoted = ChangeMembers::AddVoterIds(BTreeSet::from([replica]));
        let members = match leaving {
            None => promoted,
            Some(old) => ChangeMembers::Batch(vec![promoted, leave(&set, old)]),
        };
        self.decide(members, set.decided).await?;
        Ok(true)
    }

    async fn remove(&self, replica: ReplicaId, deadline: Instant) -> Result<bool, SetError> {
        let set = self.set();
        if !set.replicas.contains_key(&replica) {
            return if self.published().state.has_left(replica) {
                Ok(false)
            } else {
                Err(self.not_in_set(replica))
            };
        }
        let mut voters = set.voters.clone();
        if voters.remove(&replica) {
            if voters.is_empty() {
                let message = format!(
                    "replica {replica} is the last voter: add and promote another one first"
                );
                return Err(refused(ErrorKind::Conflict, message));
            }
            if replica == self.replica() {
                return self.give_way().await;
            }
            self.wait_for_quorum(&voters, None, deadline).await?;
        }
        self.decide(leave(&set, replica), set.decided).await?;
        Ok(true)
    }

    async fn hand_over(&self, to: Option<ReplicaId>) -> Result<bool, SetError> {
        if to == Some(self.replica()) {
            return Ok(false);
        }
        let handed = self.transfer_leadership(to).await;
        handed.map(|()| true).map_err(|error| match error {
            TransferError::NotLeader => SetError::NotLeader { hint: None },
            TransferError::NoTarget => {
                let which = to.map_or("no other replica".to_owned(), |to| format!("replica {to}"));
                let why = if to.is_some() {
                    "is not a voter"
                } else {
                    "is a voter"
                };
                refused(
                    ErrorKind::Conflict,
                    format!("{which} {why}, so it cannot lead"),
                )
            }
            TransferError::Silent(_) => refused(
                ErrorKind::Conflict,
                format!("{error}, so it cannot take over: start it, or name another one"),
            ),
            TransferError::CutOff(_) | TransferError::Behind { .. } => refused(
                ErrorKind::Conflict,
                format!("{error}, so it cannot take over: wait, or name another one"),
            ),
            // The other one may still take it.
            TransferError::Timeout => SetError::Unknown,
            TransferError::Stopped => unavailable("this replica is stopping"),
        })
    }

    /// A leader that is to leave hands the leadership over; whoever leads then lets it go.
    async fn give_way(&self) -> Result<bool, SetError> {
        self.hand_over(None).await?;
        let hint = self.shared.leadership.borrow().leader;
        Err(SetError::NotLeader { hint })
    }

    /// Finishes a change that an earlier leader has left half done.
    async fn finish_change(&self) -> Result<(), SetError> {
        let set = self.set();
        if !set.is_joint {
            return Ok(());
        }
        tracing::info!("finishing a change of the replica set that an earlier leader began");
        let nothing = ChangeMembers::AddVoterIds(BTreeSet::new());
        self.decide(nothing, set.decided).await
    }

    /// Writes a change, and waits until it counts. `decided` is the position of the set that it was made for.
    async fn decide(&self, members: Members, decided: Option<LogId>) -> Result<(), SetError> {
        let same_set = Precondition::LastMembershipLogId {
            last_membership_log_id: decided,
        };
        let changed = self
            .shared
            .raft
            .change_membership_if(members, false, [same_set])
            .await;
        match changed {
            Ok(_) => Ok(()),
            Err(RaftError::Fatal(_)) => Err(SetError::Unknown),
            // The first of two steps was written: whoever leads next finishes what it began.
            Err(RaftError::APIError(_)) if self.set().decided != decided => Err(SetError::Unknown),
            Err(RaftError::APIError(error)) => Err(set_error(&error)),
        }
    }

    fn set(&self) -> SetView {
        let metrics = self.shared.raft.server_metrics();
        let stored = metrics.borrow().membership_config.clone();
        let membership = stored.membership();
        SetView {
            decided: *stored.log_id(),
            voters: membership.voter_ids().collect(),
            replicas: self.replicas(),
            is_joint: membership.get_joint_config().len() > 1,
        }
    }

    fn not_in_set(&self, replica: ReplicaId) -> SetError {
        let ids: Vec<String> = self.replicas().keys().map(ToString::to_string).collect();
        let message = format!(
            "replica {replica} is not in the replica set, which has replica {}",
            ids.join(" and replica ")
        );
        refused(ErrorKind::NotFound, message)
    }
}

/// Finishes changes that earlier leaders have left half done, for as long as this replica runs.
pub(super) async fn finish_changes(shared: &Arc<ConsensusParts>) {
    let consensus = Consensus {
        shared: Arc::clone(shared),
    };
    loop {
        tokio::time::sleep(LOOK).await;
        let leads = consensus.shared.leadership.borrow().is_me;
        if !leads || !consensus.set().is_joint {
            continue;
        }
        // A change that is under way here finishes itself.
        let Ok(_turn) = consensus.shared.changing.try_lock() else {
            continue;
        };
        if let Err(error) = consensus.finish_change().await {
            tracing::debug!(?error, "a change of the replica set is not finished yet");
        }
    }
}

/// Lets go of connections to replicas that have left the set, for as long as this replica runs. One that is about to be added
/// loses its connection, too, and gets another one.
pub(super) async fn forget_who_left(shared: &Arc<ConsensusParts>) {
    let consensus = Consensus {
        shared: Arc::clone(shared),
    };
    loop {
        tokio::time::sleep(LOOK).await;
        let set = consensus.replicas();
        // Before there is a set, connections are those that the configuration names.
        if !set.is_empty() {
            let addresses = set.into_values().map(|replica| replica.peer);
            consensus.peers().keep_only(&addresses.collect());
        }
    }
}

/// The change by which a replica leaves the set.
fn leave(set: &SetView, replica: ReplicaId) -> Members {
    let one = BTreeSet::from([replica]);
    if set.voters.contains(&replica) {
        ChangeMembers::RemoveVoters(one)
    } else {
        ChangeMembers::RemoveNodes(one)
    }
}

fn set_error(error: &ClientWriteError<TypeConfig>) -> SetError {
    match error {
        ClientWriteError::ForwardToLeader(forward) => match forward.reason {
            ForwardReason::NotLeader => SetError::NotLeader {
                hint: forward.leader_id,
            },
            ForwardReason::LeadershipTransfer => unavailable("the leadership is being handed over"),
            ForwardReason::LeaseExpired => unavailable("the leader is not answered by a quorum"),
        },
        ClientWriteError::PreconditionFailed(_) => {
            unavailable("the replica set was changed by somebody else meanwhile")
        }
        ClientWriteError::ChangeMembershipError(ChangeMembershipError::InProgress(_)) => {
            unavailable("another change of the replica set is under way")
        }
        ClientWriteError::ChangeMembershipError(other) => refused(
            ErrorKind::Conflict,
            format!("the replica set cannot be changed so: {other}"),
        ),
        ClientWriteError::LogEntryDiscarded(_) => SetError::Unknown,
    }
}

fn refused(kind: ErrorKind, message: String) -> SetError {
    SetError::Refused(Refusal::new(kind, message))
}

fn unavailable(message: &str) -> SetError {
    let refusal = Refusal::new(ErrorKind::Unavailable, message);
    SetError::Refused(refusal.with(NOT_EXECUTED, true))
}
