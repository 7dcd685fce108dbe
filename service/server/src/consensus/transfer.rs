//! A checkpoint on its way to another replica, or from one.

use std::io;

use futures::{Stream, StreamExt};
use synod_proto::peer::v1 as pb;
use synod_store::CheckpointReader;
use synod_store::checkpoint::CheckpointFile;

use super::ReplicaId;
use super::checkpoints::{CheckpointData, Checkpoints, Receiving};
use super::facade::Consensus;
use super::inbound::InboundError;
use super::types::{SnapshotMeta, TypeConfig, Vote};
use super::wire::{self, Malformed};
use crate::seams::Offload;

impl CheckpointData {
    /// Which file it is in; `None` while there is none to be sent.
    pub(super) fn file(&self) -> Option<CheckpointFile> {
        match self {
            Self::Stored(reader) => Some(reader.file()),
            Self::Received(..) | Self::Awaited => None,
        }
    }

    /// The checkpoint as the messages that carry it. They break off without an end when it cannot be read; it is put
    /// aside then.
    pub(super) fn into_parts(
        self,
        vote: &Vote,
        meta: &SnapshotMeta,
        checkpoints: Checkpoints,
        offload: Offload,
    ) -> impl Stream<Item = pb::InstallCheckpointRequest> + Send + 'static {
        let reader = match self {
            Self::Stored(reader) => Some(reader),
            // openraft sends what it asked the state machine for, which is stored.
            Self::Received(..) | Self::Awaited => None,
        };
        let begin = reader.as_ref().map(|reader| {
            let begin = wire::checkpoint_begin(vote, meta, reader.header().cluster_id);
            part(pb::install_checkpoint_request::Part::Begin(begin))
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
) -> Option<(
    pb::InstallCheckpointRequest,
    (Option<CheckpointReader>, u64),
)> {
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
            let data = pb::CheckpointData { offset, data };
            Some((
                part(pb::install_checkpoint_request::Part::Data(data)),
                (Some(reader), next),
            ))
        }
        Ok(None) => {
            let end = pb::CheckpointEnd { length: offset };
            Some((
                part(pb::install_checkpoint_request::Part::End(end)),
                (None, offset),
            ))
        }
        // It was told where it was put aside.
        Err(_) => None,
    }
}

fn part(part: pb::install_checkpoint_request::Part) -> pb::InstallCheckpointRequest {
    pb::InstallCheckpointRequest { part: Some(part) }
}

impl Consensus {
    /// Receives a checkpoint and installs it.
    pub(crate) async fn on_install_checkpoint(
        &self,
        from: ReplicaId,
        parts: impl Stream<Item = Result<pb::InstallCheckpointRequest, InboundError>> + Send,
    ) -> Result<pb::InstallCheckpointResponse, InboundError> {
        let mut parts = std::pin::pin!(parts);
        let Some(pb::install_checkpoint_request::Part::Begin(begin)) = next(parts.as_mut()).await?
        else {
            return Err(Malformed("a checkpoint that does not begin").into());
        };
        let (vote, meta, cluster) = wire::checkpoint_begun(&begin)?;
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
            match next(parts.as_mut()).await? {
                Some(pb::install_checkpoint_request::Part::Data(data)) => {
                    receiving = offload
                        .run(move || take(receiving, &data))
                        .await
                        .map_err(unusable(checkpoints))?;
                }
                Some(pb::install_checkpoint_request::Part::End(end)) => {
                    break offload
                        .run(move || receiving.finish(end.length))
                        .await
                        .map_err(unusable(checkpoints))?;
                }
                Some(pb::install_checkpoint_request::Part::Begin(_)) => {
                    return Err(Malformed("a checkpoint that begins twice").into());
                }
                None => return Err(Malformed("a checkpoint without an end").into()),
            }
        };
        let snapshot = openraft::alias::SnapshotOf::<TypeConfig, _> { meta, snapshot };
        let installed = self.shared.raft.install_full_snapshot(vote, snapshot).await;
        let response = installed.map_err(|_| InboundError::Stopped)?;
        Ok(pb::InstallCheckpointResponse {
            vote: Some(wire::vote_to_wire(&response.vote)),
        })
    }
}

async fn next(
    mut parts: std::pin::Pin<
        &mut (impl Stream<Item = Result<pb::InstallCheckpointRequest, InboundError>> + Send),
    >,
) -> Result<Option<pb::install_checkpoint_request::Part>, InboundError> {
    match parts.next().await.transpose()? {
        Some(request) => Ok(Some(wire::required(
            request.part,
            "a part of a checkpoint that is none",
        )?)),
        None => Ok(None),
    }
}

fn take(mut receiving: Receiving, data: &pb::CheckpointData) -> io::Result<Receiving> {
    receiving.take(data.offset, &data.data)?;
    Ok(receiving)
}

/// A checkpoint that is not what it should be is the sender's to replace; a disk that refuses is this replica's.
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
