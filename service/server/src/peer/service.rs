//! The server side of the peer protocol: answers the calls of other replicas.

use std::pin::Pin;
use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use tokio::sync::Semaphore;
use tonic::{Request, Response, Status, Streaming};

use super::identity::{Caller, Refusal};
use super::log_end::LogEnd;
use super::messages;
use super::protocol::peer_server::Peer;
use crate::consensus::{Consensus, InboundError, ReplicaId};

/// Executes batches of commands that followers forward to this replica. Implemented by the proposer.
pub trait ForwardHandler: Send + Sync + 'static {
    /// Answers each batch, in any order, until `batches` ends because the follower ended it or the connection broke.
    fn forward(
        &self,
        from: ReplicaId,
        batches: BoxStream<'static, messages::ForwardRequest>,
    ) -> BoxStream<'static, messages::ForwardResponse>;
}

/// Answers the calls of other replicas. The callers' identities were checked before ([`super::serve()`]).
pub(super) struct PeerService {
    consensus: Consensus,
    forward: Arc<dyn ForwardHandler>,
    /// Permits one checkpoint to be received at a time, because each is as large as the whole state.
    receiving: Arc<Semaphore>,
}

impl PeerService {
    pub(super) fn new(consensus: Consensus, forward: Arc<dyn ForwardHandler>) -> Self {
        Self {
            consensus,
            forward,
            receiving: Arc::new(Semaphore::new(1)),
        }
    }
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Peer for PeerService {
    type AppendStream = Answers<messages::AppendResponse>;
    type ForwardStream = Answers<messages::ForwardResponse>;

    async fn hello(
        &self,
        _request: Request<messages::HelloRequest>,
    ) -> Result<Response<messages::HelloResponse>, Status> {
        Ok(self.said(self.consensus.on_hello()))
    }

    async fn vote(
        &self,
        request: Request<messages::VoteRequest>,
    ) -> Result<Response<messages::VoteResponse>, Status> {
        let request = self.of_who_holds(request).await?;
        let voted = self.consensus.on_vote(&request).await.map_err(status)?;
        Ok(self.said(voted))
    }

    async fn pre_vote(
        &self,
        request: Request<messages::VoteRequest>,
    ) -> Result<Response<messages::VoteResponse>, Status> {
        let request = self.of_who_holds(request).await?;
        let voted = self.consensus.on_pre_vote(&request).await.map_err(status)?;
        Ok(self.said(voted))
    }

    async fn append(
        &self,
        request: Request<Streaming<messages::AppendRequest>>,
    ) -> Result<Response<Self::AppendStream>, Status> {
        let (caller, requests) = addressed(request)?;
        let responses = self.consensus.on_append(caller.replica, requests);
        let responses: Self::AppendStream =
            responses.map(|response| response.map_err(status)).boxed();
        Ok(self.said(responses))
    }

    async fn install_checkpoint(
        &self,
        request: Request<Streaming<messages::CheckpointPart>>,
    ) -> Result<Response<messages::CheckpointResponse>, Status> {
        let (caller, parts) = addressed(request)?;
        let Ok(turn) = Arc::clone(&self.receiving).try_acquire_owned() else {
            return Err(status(InboundError::Busy));
        };
        let parts = parts.map(|part| part.map_err(|_| InboundError::NotStored));
        let consensus = self.consensus.clone();
        // openraft goes on installing although the caller hangs up, and may panic over another checkpoint meanwhile (#2116).
        let installed = tokio::spawn(async move {
            let _turn = turn;
            consensus.on_install_checkpoint(caller.replica, parts).await
        });
        answer(installed.await.unwrap_or(Err(InboundError::Stopped)))
    }

    async fn transfer_leader(
        &self,
        request: Request<messages::TransferRequest>,
    ) -> Result<Response<messages::TransferResponse>, Status> {
        let (_, request) = addressed(request)?;
        answer(self.consensus.on_transfer_leader(&request).await)
    }

    async fn read_index(
        &self,
        request: Request<messages::ReadIndexRequest>,
    ) -> Result<Response<messages::ReadIndexResponse>, Status> {
        let (_, messages::ReadIndexRequest {}) = addressed(request)?;
        answer(self.consensus.on_read_index().await)
    }

    async fn forward(
        &self,
        request: Request<Streaming<messages::ForwardRequest>>,
    ) -> Result<Response<Self::ForwardStream>, Status> {
        let (caller, batches) = addressed(request)?;
        let batches = batches
            .scan((), |(), batch| std::future::ready(batch.ok()))
            .boxed();
        Ok(Response::new(
            self.forward
                .forward(caller.replica, batches)
                .map(Ok)
                .boxed(),
        ))
    }

    async fn digest(
        &self,
        request: Request<messages::DigestRequest>,
    ) -> Result<Response<messages::DigestResponse>, Status> {
        let end = LogEnd::read(request.metadata());
        let (caller, request) = addressed(request)?;
        self.consensus.on_log_end(caller.replica, end).await;
        Ok(self.said(self.consensus.on_digest(&request)))
    }

    async fn change_set(
        &self,
        request: Request<messages::SetRequest>,
    ) -> Result<Response<messages::SetResponse>, Status> {
        let (_, request) = addressed(request)?;
        Ok(Response::new(self.consensus.on_change_set(request).await))
    }
}

impl PeerService {
    /// The message of a call for a vote. Refused if the caller's log lacks entries that it had acknowledged.
    async fn of_who_holds<T>(&self, request: Request<T>) -> Result<T, Status> {
        let end = LogEnd::read(request.metadata());
        let (caller, request) = addressed(request)?;
        let holds = self
            .consensus
            .ensure_holds(caller.replica, caller.directory, end);
        holds.await.map_err(status)?;
        Ok(request)
    }

    /// An answer with the end of this replica's log in its metadata.
    fn said<T>(&self, answer: T) -> Response<T> {
        let mut response = Response::new(answer);
        self.consensus.log_end().write(response.metadata_mut());
        response
    }
}

/// The caller and the message of a call. Refused unless it names this very replica, which all calls but `Hello` must.
fn addressed<T>(request: Request<T>) -> Result<(Caller, T), Status> {
    match request.extensions().get::<Caller>().copied() {
        Some(caller) if caller.addressed => Ok((caller, request.into_inner())),
        Some(_) | None => Err(Refusal::Unnamed.into_status()),
    }
}

fn answer<T>(result: Result<T, InboundError>) -> Result<Response<T>, Status> {
    result.map(Response::new).map_err(status)
}

fn status(error: InboundError) -> Status {
    match error {
        InboundError::Malformed(_) => Status::invalid_argument(error.to_string()),
        InboundError::NotVoting | InboundError::NotStored | InboundError::Stopped => {
            Status::unavailable(error.to_string())
        }
        InboundError::Unproved => Status::unavailable(error.to_string()),
        InboundError::Refused(refusal) => refusal.into_status(),
        InboundError::Contradicted => Refusal::CallerLacksCommitted.into_status(),
        InboundError::Busy => Status::resource_exhausted(error.to_string()),
        InboundError::BadCheckpoint => Status::data_loss(error.to_string()),
    }
}
