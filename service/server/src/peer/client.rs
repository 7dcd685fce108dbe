//! The client for calls to other replicas: one cached channel for each, which multiplexes all calls.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::Stream;
use hyper_util::rt::TokioIo;
use synod_model::limits::PEER_MESSAGE_BYTES_MAX;
use synod_store::peers::Remembered;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Request, Status, Streaming};

use super::identity::{PeerIdentity, Refusal};
use super::log_end::LogEnd;
use super::messages;
use super::protocol::peer_client::PeerClient;
use super::{CONNECTION_WINDOW, STREAM_WINDOW};
use crate::consensus::{DirectoryId, ReplicaAddress, ReplicaId};
use crate::limits::{PEER_PING_INTERVAL, PEER_PING_PATIENCE};
use crate::seams::Dial;

/// The longest time to open a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a call to another replica failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerError {
    /// The replica set has no address for the replica.
    #[error("replica {0} is not in the replica set")]
    Unknown(ReplicaId),
    /// No connection, no answer in time, or any other status. Whether the call had an effect is unknown.
    #[error("{0}")]
    Unreachable(String),
    /// The other replica says that what it was sent is damaged.
    #[error("{0}")]
    Damaged(String),
    /// The data directory of the other replica went back in time: its answer does not count.
    #[error("its data directory went back in time")]
    WentBack,
    /// The other replica refused the call for the identities that it names.
    #[error("{0}")]
    Refused(Refusal),
}

impl From<Status> for PeerError {
    fn from(status: Status) -> Self {
        match Refusal::of_status(&status) {
            Some(refusal) => Self::Refused(refusal),
            None if status.code() == Code::DataLoss => Self::Damaged(status.message().to_owned()),
            None => Self::Unreachable(format!("{:?}: {}", status.code(), status.message())),
        }
    }
}

/// The clients of the other replicas. Clones share the channels.
#[derive(Clone)]
pub struct PeerClients {
    shared: Arc<PeerClientParts>,
}

struct PeerClientParts {
    me: PeerIdentity,
    dialer: Arc<dyn Dial>,
    channels: Mutex<BTreeMap<String, Channel>>,
    acquaintance: Box<dyn Acquaintance>,
}

/// What calls to other replicas need to know, and tell, about this replica and the others.
pub(crate) trait Acquaintance: Send + Sync + 'static {
    /// Where this replica's log ends.
    fn log_end(&self) -> LogEnd;

    /// What is remembered of a directory, read before a call to it.
    fn remembered(&self, directory: DirectoryId) -> Option<Remembered>;

    /// Whether a directory's log, which ends at `end` by an answer, reaches what was remembered when it was asked.
    fn accepts(&self, directory: DirectoryId, asked: Option<Remembered>, end: LogEnd) -> bool;

    /// Notes a refusal: some mean that this replica must end.
    fn refused(&self, by: ReplicaId, refusal: Refusal);
}

/// The client of one replica.
#[derive(Clone)]
pub(crate) struct PeerLink {
    shared: Arc<PeerClientParts>,
    replica: ReplicaId,
    /// `None` for `Hello`, which asks for it.
    directory: Option<DirectoryId>,
    client: PeerClient<Channel>,
    names: MetadataMap,
}

impl PeerClients {
    /// The clients of the replica `me`.
    pub(crate) fn new(
        me: PeerIdentity,
        dialer: Arc<dyn Dial>,
        acquaintance: impl Acquaintance,
    ) -> Self {
        let acquaintance = Box::new(acquaintance);
        Self {
            shared: Arc::new(PeerClientParts {
                me,
                dialer,
                channels: Mutex::new(BTreeMap::new()),
                acquaintance,
            }),
        }
    }

    /// The client of the replica at `address`. Connects when it is first used.
    pub(crate) fn link(&self, replica: ReplicaId, address: &ReplicaAddress) -> PeerLink {
        PeerLink {
            shared: Arc::clone(&self.shared),
            replica,
            directory: Some(address.directory),
            client: self.client(&address.peer),
            names: self.shared.me.write(Some((replica, address.directory))),
        }
    }

    /// Asks the replica at `address` for its identity.
    ///
    /// # Errors
    ///
    /// When no answer arrives in time, or the other replica refuses this one.
    pub(crate) async fn hello(
        &self,
        expected: ReplicaId,
        address: &str,
        timeout: Duration,
    ) -> Result<messages::HelloResponse, PeerError> {
        let link = self.unknown(expected, address);
        let hello = link.hello(timeout).await;
        hello.inspect_err(|error| link.note(error))
    }

    /// Asks whoever is at `address` for its identity, before it is added to the set. That it refuses this replica says nothing
    /// of this one: a replica of another cluster may answer there.
    ///
    /// # Errors
    ///
    /// When no answer arrives in time, or the other replica refuses this one.
    pub(crate) async fn newcomer(
        &self,
        expected: ReplicaId,
        address: &str,
        timeout: Duration,
    ) -> Result<messages::HelloResponse, PeerError> {
        self.unknown(expected, address).hello(timeout).await
    }

    /// The client of a replica whose data directory is not known.
    fn unknown(&self, expected: ReplicaId, address: &str) -> PeerLink {
        PeerLink {
            shared: Arc::clone(&self.shared),
            replica: expected,
            directory: None,
            client: self.client(address),
            names: self.shared.me.write(None),
        }
    }

    fn client(&self, address: &str) -> PeerClient<Channel> {
        PeerClient::new(self.channel(address))
            .max_decoding_message_size(PEER_MESSAGE_BYTES_MAX)
            .max_encoding_message_size(PEER_MESSAGE_BYTES_MAX)
    }

    /// Lets go of the channels to all other addresses than these.
    pub(crate) fn keep_only(&self, addresses: &BTreeSet<String>) {
        self.channels()
            .retain(|address, _| addresses.contains(address));
    }

    /// The addresses that there are channels to.
    #[cfg(test)]
    pub(crate) fn addresses(&self) -> BTreeSet<String> {
        self.channels().keys().cloned().collect()
    }

    fn channels(&self) -> MutexGuard<'_, BTreeMap<String, Channel>> {
        let channels = self.shared.channels.lock();
        channels.unwrap_or_else(PoisonError::into_inner)
    }

    fn channel(&self, address: &str) -> Channel {
        let mut channels = self.channels();
        if let Some(channel) = channels.get(address) {
            return channel.clone();
        }
        let channel = open_lazily(Arc::clone(&self.shared.dialer), address.to_owned());
        channels.insert(address.to_owned(), channel.clone());
        channel
    }
}

impl PeerLink {
    async fn hello(&self, timeout: Duration) -> Result<messages::HelloResponse, PeerError> {
        let asked = messages::HelloRequest {};
        let call = async |mut client: PeerClient<Channel>, request| client.hello(request).await;
        let (hello, _) = self.called(timeout, asked, call).await?;
        Ok(hello)
    }

    pub(crate) async fn vote(
        &self,
        request: messages::VoteRequest,
        timeout: Duration,
    ) -> Result<messages::VoteResponse, PeerError> {
        self.call(timeout, request, async |mut client, request| {
            client.vote(request).await
        })
        .await
    }

    pub(crate) async fn pre_vote(
        &self,
        request: messages::VoteRequest,
        timeout: Duration,
    ) -> Result<messages::VoteResponse, PeerError> {
        self.call(timeout, request, async |mut client, request| {
            client.pre_vote(request).await
        })
        .await
    }

    pub(crate) async fn transfer_leader(
        &self,
        request: messages::TransferRequest,
        timeout: Duration,
    ) -> Result<messages::TransferResponse, PeerError> {
        self.call(timeout, request, async |mut client, request| {
            client.transfer_leader(request).await
        })
        .await
    }

    pub(crate) async fn read_index(
        &self,
        timeout: Duration,
    ) -> Result<messages::ReadIndexResponse, PeerError> {
        let request = messages::ReadIndexRequest {};
        self.call(timeout, request, async |mut client, request| {
            client.read_index(request).await
        })
        .await
    }

    pub(crate) async fn digest(
        &self,
        index: u64,
        timeout: Duration,
    ) -> Result<messages::DigestResponse, PeerError> {
        let request = messages::DigestRequest { index };
        self.call(timeout, request, async |mut client, request| {
            client.digest(request).await
        })
        .await
    }

    /// Asks where the log of the other replica ends.
    pub(crate) async fn log_end(&self, timeout: Duration) -> Result<LogEnd, PeerError> {
        let request = messages::DigestRequest { index: 0 };
        let call = async |mut client: PeerClient<Channel>, request| client.digest(request).await;
        let (_, end) = self.called(timeout, request, call).await?;
        Ok(end)
    }

    pub(crate) async fn change_set(
        &self,
        request: messages::SetRequest,
        timeout: Duration,
    ) -> Result<messages::SetResponse, PeerError> {
        self.call(timeout, request, async |mut client, request| {
            client.change_set(request).await
        })
        .await
    }

    /// Opens a stream of appends; `timeout` bounds the opening.
    pub(crate) async fn append(
        &self,
        requests: impl Stream<Item = messages::AppendRequest> + Send + 'static,
        timeout: Duration,
    ) -> Result<Streaming<messages::AppendResponse>, PeerError> {
        self.call(timeout, requests, async |mut client, requests| {
            client.append(requests).await
        })
        .await
    }

    /// Sends a checkpoint, part by part; `timeout` bounds all of it.
    pub(crate) async fn install_checkpoint(
        &self,
        parts: impl Stream<Item = messages::CheckpointPart> + Send + 'static,
        timeout: Duration,
    ) -> Result<messages::CheckpointResponse, PeerError> {
        self.call(timeout, parts, async |mut client, parts| {
            client.install_checkpoint(parts).await
        })
        .await
    }

    /// Opens a stream of batches; `timeout` bounds the opening.
    pub(crate) async fn forward(
        &self,
        batches: impl Stream<Item = messages::ForwardRequest> + Send + 'static,
        timeout: Duration,
    ) -> Result<Streaming<messages::ForwardResponse>, PeerError> {
        self.call(timeout, batches, async |mut client, batches| {
            client.forward(batches).await
        })
        .await
    }

    async fn call<Q, A, F>(
        &self,
        timeout: Duration,
        message: Q,
        call: impl FnOnce(PeerClient<Channel>, Request<Q>) -> F,
    ) -> Result<A, PeerError>
    where
        F: Future<Output = Result<tonic::Response<A>, Status>>,
    {
        let called = self.called(timeout, message, call).await;
        let called = called.map(|(answer, _)| answer);
        called.inspect_err(|error| self.note(error))
    }

    /// Calls without noting a refusal. Returns the answer, and where the log of the other replica ended when it answered.
    async fn called<Q, A, F>(
        &self,
        timeout: Duration,
        message: Q,
        call: impl FnOnce(PeerClient<Channel>, Request<Q>) -> F,
    ) -> Result<(A, LogEnd), PeerError>
    where
        F: Future<Output = Result<tonic::Response<A>, Status>>,
    {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.names.clone();
        let acquaintance = &self.shared.acquaintance;
        acquaintance.log_end().write(request.metadata_mut());
        let asked = self.directory.and_then(|to| acquaintance.remembered(to));
        let answered = tokio::time::timeout(timeout, call(self.client.clone(), request)).await;
        match answered {
            Ok(Ok(response)) => {
                let end = LogEnd::read(response.metadata());
                match self.directory {
                    Some(directory) if !acquaintance.accepts(directory, asked, end) => {
                        Err(PeerError::WentBack)
                    }
                    Some(_) | None => Ok((response.into_inner(), end)),
                }
            }
            Ok(Err(status)) => Err(PeerError::from(status)),
            Err(_) => Err(PeerError::Unreachable(format!(
                "no answer within {} ms",
                timeout.as_millis()
            ))),
        }
    }

    /// Whether the other directory is known to have gone back in time: an open stream to it must not go on.
    pub(crate) fn has_gone_back(&self) -> bool {
        let remembered = |directory| self.shared.acquaintance.remembered(directory);
        let remembered = self.directory.and_then(remembered);
        remembered.is_some_and(|remembered| remembered.went_back)
    }

    /// Reports a refusal of this replica, also one in the middle of a stream.
    pub(crate) fn note(&self, error: &PeerError) {
        if let PeerError::Refused(refusal) = error {
            self.shared.acquaintance.refused(self.replica, *refusal);
        }
    }
}

/// A channel to `address` that connects when it is first used, and again whenever the connection is lost.
fn open_lazily(dialer: Arc<dyn Dial>, address: String) -> Channel {
    // The URI only fills the `:authority` of the requests; the connector has the real address.
    Endpoint::from(Uri::from_static("http://synod-peer"))
        .connect_timeout(CONNECT_TIMEOUT)
        // Without pings, a connection whose packets vanish would stay for ever, and so would every call on it.
        .http2_keep_alive_interval(PEER_PING_INTERVAL)
        .keep_alive_timeout(PEER_PING_PATIENCE)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
            let dialed = dialer.dial(address.clone());
            async move { dialed.await.map(TokioIo::new) }
        }))
}
