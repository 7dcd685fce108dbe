//! Sends a checkpoint to another replica, and receives one.

use std::io;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use synod_model::ClusterId;
use synod_store::CheckpointReader;
use synod_store::checkpoint::CheckpointFile;

use super::ReplicaId;
use super::checkpoints::{CheckpointData, Checkpoints, Receiving};
use super::facade::Consensus;
use super::inbound::InboundError;
use super::record::{checkpoint_meta, snapshot_meta};
use super::types::{SnapshotMeta, TypeConfig, Vote, vote_of_store, vote_to_store};
use super::wire::Malformed;
use crate::peer::messages::{CheckpointPart, CheckpointResponse};
use crate::seams::Offload;

impl CheckpointData {
    /// The file that holds the checkpoint; `None` while there is none to be sent.
    pub(super) fn file(&self) -> Option<CheckpointFile> {
        match self {
            Self::Stored(reader) => Some(reader.file()),
            Self::Received(..) | Self::Awaited => None,
        }
    }

    /// The messages that carry the checkpoint. When it cannot be read, they stop without [`CheckpointPart::End`], and
    /// the checkpoint is put aside.
    pub(super) fn into_parts(
        self,
        vote: &Vote,
        meta: &SnapshotMeta,
        checkpoints: Checkpoints,
        offload: Offload,
    ) -> impl Stream<Item = CheckpointPart> + Send + 'static {
        let reader = match self {
            Self::Stored(reader) => Some(reader),
            // openraft sends what it got from the state machine, which is stored.
            Self::Received(..) | Self::Awaited => None,
        };
        let begin = reader.as_ref().map(|reader| CheckpointPart::Begin {
            vote: vote_to_store(vote),
            cluster: ClusterId::from_bytes(reader.header().cluster_id),
            meta: checkpoint_meta(meta),
        });
        let rest = futures::stream::unfold((reader, 0), move |(reader, offset)| {
            next_part(reader, offset, checkpoints.clone(), offload)
        });
        futures::stream::iter(begin).chain(rest)
    }
}

async fn next_part(
    reader: Option<CheckpointReader>,
    offset: u64,
    checkpoints: Checkpoints,
    offload: Offload,
) -> Option<(CheckpointPart, (Option<CheckpointReader>, u64))> {
    let mut reader = reader?;
    let (read, reader) = offload
        .run(move || {
            let read = reader.next_chunk();
            if let Err(error) = &read {
                checkpoints.cannot_be_read(&reader.file(), error);
            }
            (read, reader)
        })
        .await;
    match read {
        Ok(Some(data)) => {
            let next = offset + data.len() as u64;
            Some((CheckpointPart::Data { offset, data }, (Some(reader), next)))
        }
        Ok(None) => Some((CheckpointPart::End { length: offset }, (None, offset))),
        // The error was logged when the checkpoint was put aside.
        Err(_) => None,
    }
}

impl Consensus {
    /// Receives a checkpoint and installs it.
    pub(crate) async fn on_install_checkpoint(
        &self,
        from: ReplicaId,
        parts: impl Stream<Item = Result<CheckpointPart, InboundError>> + Send,
    ) -> Result<CheckpointResponse, InboundError> {
        let mut parts = std::pin::pin!(parts);
        let Some(CheckpointPart::Begin {
            vote,
            cluster,
            meta,
        }) = parts.next().await.transpose()?
        else {
            return Err(Malformed("a checkpoint that does not begin").into());
        };
        let (vote, cluster) = (vote_of_store(&vote), *cluster.as_bytes());
        let meta = snapshot_meta(meta)
            .map_err(|_| Malformed("a replica set with a voter that has no address"))?;
        self.shared
            .ensure_agrees(from, &vote, meta.last_log_id.into_iter())?;
        let offload = self.shared.seams.offload;
        let checkpoints = &self.shared.checkpoints;
        let receiver = checkpoints.clone();
        let mut receiving = offload
            .run(move || receiver.receive(meta, cluster))
            .await
            .map_err(unusable(checkpoints))?;
        let (meta, snapshot) = loop {
            match parts.next().await.transpose()? {
                Some(CheckpointPart::Data { offset, data }) => {
                    receiving = offload
                        .run(move || take(receiving, offset, &data))
                        .await
                        .map_err(unusable(checkpoints))?;
                }
                Some(CheckpointPart::End { length }) => {
                    break offload
                        .run(move || receiving.finish(length))
                        .await
                        .map_err(unusable(checkpoints))?;
                }
                Some(CheckpointPart::Begin { .. }) => {
                    return Err(Malformed("a checkpoint that begins twice").into());
                }
                None => return Err(Malformed("a checkpoint without an end").into()),
            }
        };
        let snapshot = openraft::alias::SnapshotOf::<TypeConfig, _> { meta, snapshot };
        let installed = self.shared.raft.install_full_snapshot(vote, snapshot).await;
        let response = installed.map_err(|_| InboundError::Stopped)?;
        Ok(CheckpointResponse {
            vote: vote_to_store(&response.vote),
        })
    }
}

fn take(mut receiving: Receiving, offset: u64, data: &Bytes) -> io::Result<Receiving> {
    receiving.take(offset, data)?;
    Ok(receiving)
}

/// A bad checkpoint is a fault of the sender, which writes another one; a failing disk is this replica's fault.
fn unusable(checkpoints: &Checkpoints) -> impl FnOnce(io::Error) -> InboundError {
    |error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            checkpoints.damage.refused(&error);
            InboundError::BadCheckpoint
        }
        _ => {
            tracing::warn!(%error, "cannot store a checkpoint");
            InboundError::NotStored
        }
    }
}
