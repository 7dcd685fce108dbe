//! openraft's client to the other replicas.
//!
//! Every failed call is reported as *unreachable*, because openraft then backs off before it tries again; what it calls
//! a network error it retries at once.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use openraft::alias::SnapshotOf;
use openraft::errors::{RPCError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::{RPCOption, RaftNetworkFactory, RaftNetworkV2};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, StreamAppendResult,
    TransferLeaderRequest, TransferLeaderResponse, VoteRequest, VoteResponse,
};
use synod_store::Log;
use tokio::sync::oneshot;

use super::acknowledgements::{Acknowledgements, SendStamp};
use super::checkpoints::{CheckpointData, Checkpoints};
use super::conflicts::RepeatedConflict;
use super::contradiction::checksum_at;
use super::heartbeats::{APPEND_OPEN, Heartbeats};
use super::noted::Noted;
use super::types::{TypeConfig, Vote, vote_of_store};
use super::{ReplicaAddress, ReplicaId, wire};
use crate::peer::messages::{AppendRequest, AppendResponse};
use crate::peer::{PeerClients, PeerError, PeerLink};
use crate::seams::Offload;

/// An append without an answer for this long is given up, together with its stream. Dead connections are found sooner,
/// by their keepalive; this is for a replica that is alive but stuck.
const APPEND_STALL: Duration = Duration::from_secs(5);

type CallError = RPCError<TypeConfig>;
type Appended = Result<StreamAppendResult<TypeConfig>, CallError>;

/// Makes clients for the other replicas. All clients of one replica share its channel.
#[derive(Clone)]
pub(crate) struct Network {
    pub(crate) peers: PeerClients,
    pub(super) log: Log,
    pub(super) checkpoints: Checkpoints,
    pub(crate) offload: Offload,
    /// Who answers heartbeats anew.
    pub(super) back: Arc<Noted>,
    pub(super) acknowledgements: Arc<Acknowledgements>,
}

impl RaftNetworkFactory<TypeConfig> for Network {
    type Network = Link;

    async fn new_client(&mut self, target: ReplicaId, address: &ReplicaAddress) -> Link {
        Link {
            peer: self.peers.link(target, address),
            log: self.log.clone(),
            checkpoints: self.checkpoints.clone(),
            offload: self.offload,
            heartbeats: Heartbeats::new(target, &self.acknowledgements, &self.back),
            target,
            acknowledgements: Arc::clone(&self.acknowledgements),
            conflicts: Arc::default(),
        }
    }
}

/// The client of one replica.
pub(crate) struct Link {
    target: ReplicaId,
    peer: PeerLink,
    log: Log,
    checkpoints: Checkpoints,
    offload: Offload,
    heartbeats: Heartbeats,
    acknowledgements: Arc<Acknowledgements>,
    conflicts: Arc<RepeatedConflict>,
}

impl RaftNetworkV2<TypeConfig> for Link {
    type SnapshotData = CheckpointData;

    /// Unused in practice: openraft appends through [`Self::stream_append`].
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<TypeConfig>,
        _option: RPCOption,
    ) -> Result<AppendEntriesResponse<TypeConfig>, CallError> {
        let requests = futures::stream::once(async { wire::append_to_wire(request) });
        let mut responses = self
            .peer
            .append(requests, APPEND_OPEN)
            .await
            .map_err(unreachable)?;
        match responses
            .message()
            .await
            .map_err(PeerError::from)
            .inspect_err(|error| self.peer.note(error))
            .map_err(unreachable)?
        {
            Some(response) => Ok(wire::appended_from_wire(&response).into()),
            None => Err(unreachable(PeerError::Unreachable(
                "the stream ended without an answer".to_owned(),
            ))),
        }
    }

    fn stream_append<'s, S>(
        &'s mut self,
        input: S,
        _option: RPCOption,
    ) -> BoxFuture<'s, Result<BoxStream<'s, Appended>, CallError>>
    where
        S: Stream<Item = AppendEntriesRequest<TypeConfig>> + Send + Unpin + 'static,
    {
        Box::pin(async move {
            // openraft sleeps its backoff inside `input`, when that is first polled. Opening the stream before would
            // fail while the replica is down, and be retried in a hot loop.
            let mut input = input.fuse();
            let Some(first) = input.next().await else {
                return Ok(futures::stream::empty().boxed());
            };
            let prev_checksum = first
                .prev_log_id
                .and_then(|prev| checksum_at(&self.log, &prev));
            let first = AppendRequest {
                prev_checksum,
                ..wire::append_to_wire(first)
            };
            // openraft sends each heartbeat, those that confirm reads too, as a stream of its own, which has ended by now.
            let second = input.next().now_or_never();
            if matches!(second, Some(None)) && first.entries.is_empty() {
                let answered = self.heartbeats.beat(&self.peer, first).await;
                return Ok(futures::stream::once(async { answered.map_err(unreachable) }).boxed());
            }
            tokio::time::sleep(self.conflicts.pause()).await;
            let input = futures::stream::iter(second.flatten()).chain(input);
            let unanswered = UnansweredRequests::new(self);
            let sent = unanswered.clone();
            // No entry is sent before the follower has said where its log ends, because the entry would make that log
            // longer. A heartbeat carries no entries, so it need not wait.
            let (opened, gate) = oneshot::channel::<()>();
            let gate = gate.shared();
            // openraft's request streams of one replica share state. An HTTP/2 call would keep polling a stale one, which would
            // take entries of the next.
            let (awaited, over) = oneshot::channel::<()>();
            let requests = futures::stream::once(async { first })
                .chain(input.map(wire::append_to_wire))
                .then(move |request| {
                    let gate = gate.clone();
                    async move {
                        let passes = request.entries.is_empty() || gate.await.is_ok();
                        passes.then_some(request)
                    }
                })
                .take_while(|request| std::future::ready(request.is_some()))
                .filter_map(std::future::ready)
                .inspect(move |request| sent.push(request))
                .take_until(over);
            let responses = self
                .peer
                .append(requests, APPEND_OPEN)
                .await
                .map_err(unreachable)?;
            // The receiver lives in the request stream of the call that was just opened.
            let _ = opened.send(());
            let peer = self.peer.clone();
            let responses = responses.map_err(move |status| {
                let error = PeerError::from(status);
                peer.note(&error);
                unreachable(error)
            });
            Ok(watched(responses.boxed(), unanswered, awaited).boxed())
        })
    }

    async fn vote(
        &mut self,
        request: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, CallError> {
        let request = wire::vote_request_to_wire(&request);
        let response = self
            .peer
            .vote(request, option.hard_ttl())
            .await
            .map_err(unreachable)?;
        Ok(wire::vote_response_from_wire(&response))
    }

    /// Must be implemented: openraft's default would grant every pre-vote without asking.
    async fn pre_vote(
        &mut self,
        request: VoteRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<VoteResponse<TypeConfig>, CallError> {
        let request = wire::vote_request_to_wire(&request);
        let response = self
            .peer
            .pre_vote(request, option.hard_ttl())
            .await
            .map_err(unreachable)?;
        Ok(wire::vote_response_from_wire(&response))
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: SnapshotOf<TypeConfig, CheckpointData>,
        cancel: impl Future<Output = ReplicationClosed> + Send + 'static,
        option: RPCOption,
    ) -> Result<SnapshotResponse<TypeConfig>, StreamingError<TypeConfig>> {
        let Some(file) = snapshot.snapshot.file() else {
            let awaited = "a checkpoint is being written in the place of a damaged one";
            return Err(unreachable(PeerError::Unreachable(awaited.to_owned())).into());
        };
        // Any answer says where the other log ends: a directory that went back in time gets no checkpoint.
        let asked = self.peer.digest(0, APPEND_OPEN).await;
        asked.map_err(unreachable)?;
        let checkpoints = self.checkpoints.clone();
        let parts = snapshot
            .snapshot
            .into_parts(&vote, &snapshot.meta, checkpoints, self.offload);
        let response = tokio::select! {
            biased;
            closed = cancel => return Err(closed.into()),
            response = self.peer.install_checkpoint(parts, option.hard_ttl()) => response,
        };
        if let Err(PeerError::Damaged(said)) = &response {
            let (checkpoints, said) = (self.checkpoints.clone(), said.clone());
            self.offload
                .run(move || checkpoints.was_refused(&file, &said))
                .await;
        }
        let response = response.map_err(unreachable)?;
        Ok(SnapshotResponse::new(vote_of_store(&response.vote)))
    }

    async fn transfer_leader(
        &mut self,
        request: TransferLeaderRequest<TypeConfig>,
        option: RPCOption,
    ) -> Result<TransferLeaderResponse<TypeConfig>, CallError> {
        let request = wire::transfer_to_wire(&request);
        let response = self
            .peer
            .transfer_leader(request, option.hard_ttl())
            .await
            .map_err(unreachable)?;
        Ok(wire::transferred_from_wire(&response))
    }
}

/// The requests of a stream that the other replica has not answered yet, in the order in which they are sent. Clones share
/// them.
#[derive(Clone)]
struct UnansweredRequests {
    by: ReplicaId,
    acknowledgements: Arc<Acknowledgements>,
    conflicts: Arc<RepeatedConflict>,
    requests: Arc<Mutex<VecDeque<(synod_store::Vote, SendStamp)>>>,
}

impl UnansweredRequests {
    fn new(link: &Link) -> Self {
        Self {
            by: link.target,
            acknowledgements: Arc::clone(&link.acknowledgements),
            conflicts: Arc::clone(&link.conflicts),
            requests: Arc::default(),
        }
    }

    /// Adds a request that is about to be sent.
    fn push(&self, request: &AppendRequest) {
        let stamp = self.acknowledgements.stamp();
        self.lock().push_back((request.vote, stamp));
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes the request that this response answers: the first one, for requests are answered in order.
    ///
    /// # Errors
    ///
    /// When no request is unanswered.
    fn take_answer(&self, response: &AppendResponse) -> Result<(), PeerError> {
        let Some((vote, stamp)) = self.lock().pop_front() else {
            let unasked = "an append was answered that was not sent";
            return Err(PeerError::Unreachable(unasked.to_owned()));
        };
        self.acknowledgements
            .record(self.by, &vote, stamp, response);
        self.conflicts.note(response);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(synod_store::Vote, SendStamp)>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a stream of responses with an error once a response has been due for [`APPEND_STALL`]. Dropping the
/// stream drops `requests`, which ends the request stream.
fn watched(
    responses: BoxStream<'static, Result<AppendResponse, CallError>>,
    unanswered: UnansweredRequests,
    requests: oneshot::Sender<()>,
) -> impl Stream<Item = Appended> {
    let parts = (responses, unanswered, requests);
    futures::stream::unfold(Some(parts), |parts| async move {
        let (mut responses, unanswered, requests) = parts?;
        loop {
            let is_idle = unanswered.is_empty();
            let next = match tokio::time::timeout(APPEND_STALL, responses.next()).await {
                Ok(next) => next?,
                // No response was due when this wait began: an idle stream may stay open.
                Err(_) if is_idle => continue,
                Err(_) => Err(unreachable(PeerError::Unreachable(
                    "an append was not answered".to_owned(),
                ))),
            };
            let answered = next.and_then(|response| {
                unanswered.take_answer(&response).map_err(unreachable)?;
                Ok(wire::appended_from_wire(&response))
            });
            let rest = answered.is_ok();
            let rest = rest.then_some((responses, unanswered, requests));
            return Some((answered, rest));
        }
    })
}

fn unreachable(error: PeerError) -> CallError {
    RPCError::Unreachable(Unreachable::new(&error))
}

#[cfg(test)]
mod tests;
