//! Calls to other replicas that openraft does not make itself: read indexes and forwarded batches.

use std::time::Duration;

use futures::Stream;
use tonic::Streaming;

use super::error::ReadIndexError;
use super::facade::Consensus;
use super::{Position, ReplicaId};
use crate::peer::messages::{
    ForwardRequest, ForwardResponse, ReadIndexResponse, SetRequest, SetResponse,
};
use crate::peer::{PeerError, PeerLink};

/// Why another replica returned no read index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteReadError {
    /// The call failed.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// The replica has no read index to return.
    #[error(transparent)]
    Refused(ReadIndexError),
}

impl Consensus {
    /// Asks `leader` for a read index: see [`Self::read_index`].
    ///
    /// # Errors
    ///
    /// When `leader` cannot be called, does not answer within `timeout`, or does not lead.
    pub async fn remote_read_index(
        &self,
        leader: ReplicaId,
        timeout: Duration,
    ) -> Result<Position, RemoteReadError> {
        let response = self.link(leader)?.read_index(timeout).await?;
        match response {
            ReadIndexResponse::At(position) => Ok(position),
            ReadIndexResponse::NotLeader(hint) => {
                Err(RemoteReadError::Refused(ReadIndexError::NotLeader { hint }))
            }
            ReadIndexResponse::NoQuorum => Err(RemoteReadError::Refused(ReadIndexError::NoQuorum)),
        }
    }

    /// Opens a stream of batches to `leader`. Resolves when `leader` has accepted the stream, before any batch is sent:
    /// an error means that none was sent.
    ///
    /// # Errors
    ///
    /// When the stream cannot be opened within `timeout`.
    pub async fn open_forward(
        &self,
        leader: ReplicaId,
        batches: impl Stream<Item = ForwardRequest> + Send + 'static,
        timeout: Duration,
    ) -> Result<Streaming<ForwardResponse>, PeerError> {
        self.link(leader)?.forward(batches, timeout).await
    }

    /// Asks `leader` for a change of the replica set.
    ///
    /// # Errors
    ///
    /// When `leader` cannot be called or does not answer in time. It may carry out the change all the same.
    pub(crate) async fn remote_change_set(
        &self,
        leader: ReplicaId,
        request: SetRequest,
        timeout: Duration,
    ) -> Result<SetResponse, PeerError> {
        self.link(leader)?.change_set(request, timeout).await
    }

    fn link(&self, replica: ReplicaId) -> Result<PeerLink, PeerError> {
        let replicas = self.replicas();
        let address = replicas.get(&replica).ok_or(PeerError::Unknown(replica))?;
        Ok(self.shared.peers.link(replica, address))
    }
}
