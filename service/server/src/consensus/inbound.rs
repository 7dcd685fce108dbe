//! Handles Raft's messages from other replicas, as calls of openraft. The peer service has checked who sent them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{FutureExt, Stream, StreamExt};
use openraft::errors::RaftError;
use synod_machine::Digest;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::ReadIndexError;
use super::facade::{Consensus, ConsensusParts};
use super::record::to_store_id;
use super::replica_set::SetError;
use super::types::{LogId, TypeConfig};
use super::wire::{self, Malformed};
use super::{DirectoryId, Fatal, Position, ReplicaAddress, ReplicaId};
use crate::limits::DEADLINE_MAX;
use crate::peer::{Refusal, messages};

/// Why a message got no regular answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InboundError {
    /// It violates the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// This replica's log may have lost entries that it had acknowledged, and the candidate may lack them.
    #[error(
        "this replica lost the end of its log, and votes for nobody who may lack it before it has caught up"
    )]
    NotVoting,
    /// Another checkpoint is being received.
    #[error("another checkpoint is being received")]
    Busy,
    /// The checkpoint is damaged.
    #[error("the checkpoint is damaged")]
    BadCheckpoint,
    /// This replica's disk failed to take the checkpoint, or parts of it are missing.
    #[error("the checkpoint could not be stored")]
    NotStored,
    /// The leader that sent the message lacks entries that are committed here.
    #[error("the leader lacks entries that are committed here")]
    Contradicted,
    /// The log of a caller that asks for a vote seemed to have gone back, and the caller did not prove otherwise.
    #[error(
        "vote refused: by its call, the caller's log ends before an entry that it had acknowledged, and it did not \
         answer where its log ends now"
    )]
    Unproved,
    /// The caller's identity was refused.
    #[error("{0}")]
    Refused(Refusal),
    /// This replica is stopping.
    #[error("this replica is stopping")]
    Stopped,
}

impl Consensus {
    pub(crate) async fn on_vote(
        &self,
        request: &messages::VoteRequest,
    ) -> Result<messages::VoteResponse, InboundError> {
        let request = wire::vote_request_from_wire(request);
        self.ensure_may_vote_for(request.last_log_id.as_ref())?;
        let response = self.shared.raft.vote(request).await.map_err(stopped)?;
        Ok(wire::vote_response_to_wire(&response))
    }

    pub(crate) async fn on_pre_vote(
        &self,
        request: &messages::VoteRequest,
    ) -> Result<messages::VoteResponse, InboundError> {
        let request = wire::vote_request_from_wire(request);
        self.ensure_may_vote_for(request.last_log_id.as_ref())?;
        let response = self.shared.raft.pre_vote(request).await.map_err(stopped)?;
        Ok(wire::vote_response_to_wire(&response))
    }

    /// Answers appends in the order of the requests. A malformed request, or one that does not fit, ends the stream.
    pub(crate) fn on_append<E>(
        &self,
        from: ReplicaId,
        requests: impl Stream<Item = Result<messages::AppendRequest, E>> + Send + 'static,
    ) -> impl Stream<Item = Result<messages::AppendResponse, InboundError>> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        let (told, contradicted) = oneshot::channel();
        let requests = requests.scan(Some(told), move |told, request| {
            let request = request.ok().and_then(|request| {
                let prev_checksum = request.prev_checksum;
                let request = wire::append_from_wire(request)
                    .inspect_err(|error| tracing::warn!(%from, %error, "refused an append"))
                    .ok()?;
                let fits = shared.ensure_fits(from, &request, prev_checksum);
                if fits.is_err()
                    && let Some(told) = told.take()
                {
                    // If the leader has closed the stream, no one needs the answer.
                    let _ = told.send(());
                }
                fits.ok().map(|()| {
                    shared.called_by(&request.vote);
                    request
                })
            });
            std::future::ready(request)
        });
        let responses = self.shared.raft.stream_append(requests);
        let responses = responses.map(|result| match result {
            Ok(result) => Ok(wire::appended_to_wire(result)),
            Err(_) => Err(InboundError::Stopped),
        });
        let last = contradicted.map(|told| told.ok().map(|()| Err(InboundError::Contradicted)));
        responses.chain(last.into_stream().filter_map(std::future::ready))
    }

    pub(crate) async fn on_transfer_leader(
        &self,
        request: &messages::TransferRequest,
    ) -> Result<messages::TransferResponse, InboundError> {
        let request = wire::transfer_from_wire(request);
        self.ensure_voting()?;
        let response = self
            .shared
            .raft
            .handle_transfer_leader(request)
            .await
            .map_err(|_| InboundError::Stopped)?;
        self.shared.contact.lose();
        Ok(wire::transferred_to_wire(response))
    }

    pub(crate) async fn on_read_index(&self) -> Result<messages::ReadIndexResponse, InboundError> {
        match self.read_index().await {
            Ok(position) => Ok(messages::ReadIndexResponse::At(position)),
            Err(ReadIndexError::NotLeader { hint }) => {
                Ok(messages::ReadIndexResponse::NotLeader(hint))
            }
            Err(ReadIndexError::NoQuorum) => Ok(messages::ReadIndexResponse::NoQuorum),
            Err(ReadIndexError::Stopped) => Err(InboundError::Stopped),
        }
    }

    pub(crate) fn on_digest(&self, request: &messages::DigestRequest) -> messages::DigestResponse {
        messages::DigestResponse {
            digest: self.digest_at(request.index),
            remembered: self.shared.memory.to_tell(),
        }
    }

    /// The digest that is kept of this index, or that of the present state if the index is its last.
    fn digest_at(&self, index: u64) -> Option<(Position, Digest)> {
        let kept = self.shared.digests.at(index);
        kept.or_else(|| {
            let published = self.published();
            let at = published.applied.filter(|at| at.index == index)?;
            Some((at, published.state.digest()))
        })
    }

    pub(crate) fn on_hello(&self) -> messages::HelloResponse {
        let ConsensusParts { me, publisher, .. } = &*self.shared;
        messages::HelloResponse {
            replica: me.replica,
            directory: me.directory,
            cluster_name: me.cluster.clone(),
            initialized: self.is_initialized(),
            cluster: publisher.latest().state.cluster().copied(),
            machine_version_min: synod_machine::MACHINE_VERSION_MIN,
            machine_version_max: synod_model::known_machine_version(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The data directory of `replica` according to the committed replica set, in which a replica's directory never
    /// changes.
    pub(crate) fn known_directory(&self, replica: ReplicaId) -> Option<DirectoryId> {
        self.address(replica).map(|address| address.directory)
    }

    /// The address of a replica of the committed set.
    pub(super) fn address(&self, replica: ReplicaId) -> Option<ReplicaAddress> {
        let metrics = self.shared.raft.server_metrics();
        let membership = metrics.borrow().committed_membership_config.clone();
        membership.membership().get_node(&replica).cloned()
    }

    /// Whether a replica has left the replica set, by what was applied here.
    pub(crate) fn has_left(&self, replica: ReplicaId) -> bool {
        self.published().state.has_left(replica)
    }

    /// Carries out a change of the replica set for another replica, and goes on with it if that one gives up.
    pub(crate) async fn on_change_set(
        &self,
        request: messages::SetRequest,
    ) -> messages::SetResponse {
        let messages::SetRequest { change, timeout } = request;
        let deadline = Instant::now() + timeout.min(DEADLINE_MAX);
        match self.change_set_here(change, deadline).await {
            Ok(changed) => messages::SetResponse::Done(changed),
            Err(SetError::NotLeader { hint }) => messages::SetResponse::NotLeader(hint),
            Err(SetError::Refused(refusal)) => messages::SetResponse::Refused(refusal),
            Err(SetError::Unknown) => messages::SetResponse::Unknown,
        }
    }

    /// Whether this replica belongs to a replica set: whether its log or its state holds an entry.
    pub(crate) fn is_initialized(&self) -> bool {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        metrics.last_log_index.is_some() || metrics.last_applied.is_some()
    }

    /// Forms the first replica set. Only one replica may do so, and only if all directories are empty.
    ///
    /// # Errors
    ///
    /// A description, when this replica belongs to a set already or is not part of `set`.
    pub(crate) async fn initialize(
        &self,
        set: BTreeMap<ReplicaId, ReplicaAddress>,
    ) -> Result<(), String> {
        self.shared
            .raft
            .initialize(set)
            .await
            .map_err(|error| error.to_string())
    }

    /// Notes that a call of another replica was refused. If the call was meant for this replica with another directory,
    /// and the present directory is empty, then this replica's data was wiped.
    pub(crate) fn on_refused_call(&self, refusal: Refusal) {
        if refusal == Refusal::WrongDirectory && !self.is_initialized() {
            self.shared.alarm.raise(Fatal::WrongDirectory {
                replica: self.replica(),
                detail: "another replica calls it by the id of a directory that it no longer has"
                    .to_owned(),
            });
        }
    }

    /// Notes that a connection from `replica` ended, which is a reason to check whether it lives.
    pub(crate) fn on_connection_lost(&self, replica: ReplicaId) {
        self.shared.lost.note(replica);
    }

    /// Refuses a candidate whose log may lack what this replica had acknowledged and lost.
    fn ensure_may_vote_for(&self, last: Option<&LogId>) -> Result<(), InboundError> {
        let last = last.map(to_store_id);
        if self.shared.ballot.may_vote_for(last) {
            Ok(())
        } else {
            Err(InboundError::NotVoting)
        }
    }

    fn ensure_voting(&self) -> Result<(), InboundError> {
        if self.shared.ballot.is_open() {
            Ok(())
        } else {
            Err(InboundError::NotVoting)
        }
    }
}

fn stopped<E>(_: RaftError<TypeConfig, E>) -> InboundError {
    InboundError::Stopped
}
