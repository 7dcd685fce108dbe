//! The heartbeats of a leader to one replica, which share a stream of appends as long as it lasts.
//!
//! A stream of its own for each would cost both ends several times as much, and so would every read that a round of
//! heartbeats confirms.

use std::sync::Arc;
use std::time::Duration;

use openraft::raft::StreamAppendResult;
use tokio::sync::mpsc;
use tonic::Streaming;

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
    pub(super) fn new(replica: ReplicaId, back: &Arc<Noted>) -> Self {
        Self {
            replica,
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
        let kept = self.stream.take().filter(|_| !peer.has_gone_back());
        if let Some(stream) = kept
            && let Ok(answered) = self.answered(stream, Some(heartbeat.clone())).await
        {
            return Ok(answered);
        }
        // The other end may have been started again since the last one.
        let stream = Beating::open(peer, heartbeat).await?;
        let answered = self.answered(stream, None).await;
        let answered = answered.inspect_err(|error| peer.note(error))?;
        if answered.is_ok() {
            self.back.note(self.replica);
        }
        Ok(answered)
    }

    /// The next answer of a stream, which is kept if the follower goes on with it.
    async fn answered(
        &mut self,
        mut stream: Beating,
        heartbeat: Option<AppendRequest>,
    ) -> Result<StreamAppendResult<TypeConfig>, PeerError> {
        let ended = || PeerError::Unreachable("the stream ended without an answer".to_owned());
        if let Some(heartbeat) = heartbeat {
            let sent = stream.requests.send(heartbeat).await;
            sent.map_err(|_| ended())?;
        }
        let response = stream.responses.message().await?.ok_or_else(ended)?;
        let answered = wire::appended_from_wire(&response);
        if answered.is_ok() {
            self.stream = Some(stream);
        }
        Ok(answered)
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
}
