//! Raft's messages as they come in. The peer service has checked who sent them; here they become calls of openraft.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{FutureExt, Stream, StreamExt};
use openraft::errors::RaftError;
use tokio::sync::oneshot;

use super::error::ReadIndexError;
use super::facade::{Consensus, ConsensusParts};
use super::types::{TypeConfig, position_of};
use super::wire::{self, Malformed};
use super::{DirectoryId, Fatal, ReplicaAddress, ReplicaId};
use crate::peer::{Refusal, messages};

/// Why a message was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InboundError {
    /// It is not what the protocol says.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// This replica may not vote before it has caught up: its log may have lost entries that it had acknowledged.
    #[error("this replica does not vote before it has caught up with the leader")]
    NotVoting,
    /// Another checkpoint is being received.
    #[error("another checkpoint is being received")]
    Busy,
    /// The checkpoint is damaged.
    #[error("the checkpoint is damaged")]
    BadCheckpoint,
    /// The disk refuses the checkpoint, or it did not arrive as a whole.
    #[error("the checkpoint could not be stored")]
    NotStored,
    /// The leader that sent it lacks what is committed here.
    #[error("the leader lacks entries that are committed here")]
    Contradicted,
    /// The log of whoever asks for a vote may have gone back in time, and it did not say where it ends now.
    #[error("the caller's log seemed to end too early, and it did not answer when it was asked")]
    Unproved,
    /// The caller is refused for who it is.
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
        self.ensure_voting()?;
        let response = self.shared.raft.vote(request).await.map_err(stopped)?;
        Ok(wire::vote_response_to_wire(&response))
    }

    pub(crate) async fn on_pre_vote(
        &self,
        request: &messages::VoteRequest,
    ) -> Result<messages::VoteResponse, InboundError> {
        let request = wire::vote_request_from_wire(request);
        self.ensure_voting()?;
        let response = self.shared.raft.pre_vote(request).await.map_err(stopped)?;
        Ok(wire::vote_response_to_wire(&response))
    }

    /// Answers appends in the order of the requests. A request that cannot be read ends the stream.
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
                    // A leader that has gone need not be told.
                    let _ = told.send(());
                }
                fits.ok().map(|()| request)
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
        Ok(wire::transferred_to_wire(response))
    }

    pub(crate) async fn on_read_index(&self) -> Result<messages::ReadIndexResponse, InboundError> {
        match self.read_position().await {
            Ok(position) => Ok(messages::ReadIndexResponse::At(position_of(&position))),
            Err(ReadIndexError::NotLeader { hint }) => {
                Ok(messages::ReadIndexResponse::NotLeader(hint))
            }
            Err(ReadIndexError::NoQuorum) => Ok(messages::ReadIndexResponse::NoQuorum),
            Err(ReadIndexError::Stopped) => Err(InboundError::Stopped),
        }
    }

    pub(crate) fn on_digest(&self, request: &messages::DigestRequest) -> messages::DigestResponse {
        messages::DigestResponse {
            digest: self.shared.digests.at(request.index),
            remembered: self.shared.memory.to_tell(),
        }
    }

    pub(crate) fn on_hello(&self) -> messages::HelloResponse {
        let ConsensusParts { me, publisher, .. } = &*self.shared;
        messages::HelloResponse {
            replica: me.replica,
            directory: me.directory,
            cluster_name: me.cluster.clone(),
            initialized: self.is_initialized(),
            cluster: publisher.latest().state.cluster().copied(),
            machine_version_min: synod_machine::MACHINE_VERSION,
            machine_version_max: synod_machine::MACHINE_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Which data directory the replica set says that a replica has. Only what is committed counts: it is never changed
    /// again.
    pub(crate) fn known_directory(&self, replica: ReplicaId) -> Option<DirectoryId> {
        self.address(replica).map(|address| address.directory)
    }

    /// Where a replica of the set is.
    pub(super) fn address(&self, replica: ReplicaId) -> Option<ReplicaAddress> {
        let metrics = self.shared.raft.server_metrics();
        let membership = metrics.borrow().committed_membership_config.clone();
        membership.membership().get_node(&replica).cloned()
    }

    /// Whether this replica belongs to a replica set: its log holds something.
    pub(crate) fn is_initialized(&self) -> bool {
        let metrics = self.shared.raft.metrics();
        let metrics = metrics.borrow();
        metrics.last_log_index.is_some() || metrics.last_applied.is_some()
    }

    /// Makes the first replica set. Only one replica may, and only of directories that hold nothing yet.
    ///
    /// # Errors
    ///
    /// In words, when this replica belongs to a set already or is not part of `set`.
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

    /// Takes note that a call was refused which another replica made. When it was meant for this replica with another
    /// directory, and this one's is empty, then this one was wiped.
    pub(crate) fn on_refused_call(&self, refusal: Refusal) {
        if refusal == Refusal::WrongDirectory && !self.is_initialized() {
            self.shared.alarm.raise(Fatal::WrongDirectory {
                replica: self.replica(),
                detail: "another replica calls it by the id of a directory that it no longer has"
                    .to_owned(),
            });
        }
    }

    /// Takes note that a connection ended over which `replica` called: a reason to doubt that it lives.
    pub(crate) fn on_connection_lost(&self, replica: ReplicaId) {
        self.shared.suspicion.connection_lost(replica);
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
