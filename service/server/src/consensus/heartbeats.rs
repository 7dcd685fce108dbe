//! The heartbeats of a leader to one replica, which share a stream of appends as long as it lasts.
//!
//! A stream of its own for each would cost both ends several times as much, and so would every read that a round of
//! heartbeats confirms.

use std::sync::Arc;
use std::time::Duration;

use openraft::raft::StreamAppendResult;
use synod_store::Vote;
use tokio::sync::mpsc;
use tonic::Streaming;

use super::acknowledgements::{Acknowledgements, SendStamp};
use super::noted::Noted;
use super::types::TypeConfig;
use super::{ReplicaId, wire};
use crate::peer::messages::{AppendRequest, AppendResponse};
use crate::peer::{PeerError, PeerLink};

/// The longest wait for a stream of appends to open.
pub(super) const APPEND_OPEN: Duration = Duration::from_secs(1);

/// Sends heartbeats, one after another.
pub(super) struct Heartbeats {
    replica: ReplicaId,
    acknowledgements: Arc<Acknowledgements>,
    /// Told when the replica answers over a stream that is new: it may have been away.
    back: Arc<Noted>,
    /// `None` until the first one, and after one without a good answer.
    stream: Option<Beating>,
}

/// An open stream. Each request that it was given has been answered.
struct Beating {
    requests: mpsc::Sender<AppendRequest>,
    responses: Streaming<AppendResponse>,
}

impl Heartbeats {
    pub(super) fn new(
        replica: ReplicaId,
        acknowledgements: &Arc<Acknowledgements>,
        back: &Arc<Noted>,
    ) -> Self {
        Self {
            replica,
            acknowledgements: Arc::clone(acknowledgements),
            back: Arc::clone(back),
            stream: None,
        }
    }

    /// Sends a heartbeat and waits for its answer. Whoever gives up waiting ends the stream, whose next answer would pass
    /// for that to another heartbeat.
    pub(super) async fn beat(
        &mut self,
        peer: &PeerLink,
        heartbeat: AppendRequest,
    ) -> Result<StreamAppendResult<TypeConfig>, PeerError> {
        let (vote, stamp) = (heartbeat.vote, self.acknowledgements.stamp());
        let kept = self.stream.take().filter(|_| !peer.has_gone_back());
        if let Some(mut stream) = kept
            && let Ok(response) = stream.beat(heartbeat.clone()).await
        {
            return Ok(self.take_answer(stream, &vote, stamp, &response));
        }
        // The other end may have been started again since the last one.
        let mut stream = Beating::open(peer, heartbeat).await?;
        let response = stream.response().await;
        let response = response.inspect_err(|error| peer.note(error))?;
        let answered = self.take_answer(stream, &vote, stamp, &response);
        if answered.is_ok() {
            self.back.note(self.replica);
        }
        Ok(answered)
    }

    /// Records an answer, and keeps its stream if the follower goes on with it.
    fn take_answer(
        &mut self,
        stream: Beating,
        vote: &Vote,
        stamp: SendStamp,
        response: &AppendResponse,
    ) -> StreamAppendResult<TypeConfig> {
        self.acknowledgements
            .record(self.replica, vote, stamp, response);
        let answered = wire::appended_from_wire(response);
        if answered.is_ok() {
            self.stream = Some(stream);
        }
        answered
    }
}

impl Beating {
    /// Opens a stream that begins with this heartbeat.
    async fn open(peer: &PeerLink, first: AppendRequest) -> Result<Self, PeerError> {
        let (requests, queue) = mpsc::channel(1);
        // There is room for one.
        let _ = requests.try_send(first);
        let queue =
            futures::stream::unfold(queue, async |mut queue| Some((queue.recv().await?, queue)));
        let responses = peer.append(queue, APPEND_OPEN).await?;
        Ok(Self {
            requests,
            responses,
        })
    }

    /// Sends a heartbeat, and waits for its answer.
    async fn beat(&mut self, heartbeat: AppendRequest) -> Result<AppendResponse, PeerError> {
        self.requests
            .send(heartbeat)
            .await
            .map_err(|_| Self::ended())?;
        self.response().await
    }

    async fn response(&mut self) -> Result<AppendResponse, PeerError> {
        self.responses.message().await?.ok_or_else(Self::ended)
    }

    fn ended() -> PeerError {
        PeerError::Unreachable("the stream ended without an answer".to_owned())
    }
}
