//! The stream of `Cluster/Backup`: the whole state at one revision, made as its reader takes it.
//!
//! The state is a value, so a backup is of exactly one revision however long it takes, and apply does not wait for it. Its
//! rows are made chunk by chunk: a reader that is slow costs one chunk, and what the present state no longer shares.

use std::sync::Arc;

use bytes::Bytes;
use futures::channel::mpsc::{self, Sender};
use futures::stream::{self, Stream, StreamExt as _};
use futures::{FutureExt as _, SinkExt as _};
use sha2::{Digest as _, Sha256};
use synod_machine::State;
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::to_status;
use synod_proto::{TakeBackup, codec, v1};
use synod_store::backup::BACKUP_FORMAT;
use synod_store::checkpoint::RowChunks;
use tonic::Status;

use super::calls::Encoded;
use super::gate::{GateParts, Request, Response};
use super::streams::{Messages, respond};
use super::typed;
use crate::access::Lasting;
use crate::handle::{Asking, Handle};
use crate::limits::{BACKUP_ROWS_BYTES_MAX, BACKUP_TIME_MAX};
use crate::stop::Stop;

use v1::cluster_backup_response::Part;

/// Opens the stream that a request asks for.
///
/// # Errors
///
/// The status of a request that is refused.
pub(super) async fn opened(
    gate: &Arc<GateParts>,
    asking: &Asking,
    request: Request,
) -> Result<Response, Status> {
    let mut messages = Messages::of(request.into_body());
    let message = messages.next().await.transpose()?;
    let message = message.ok_or_else(|| Status::internal("the request has no message"))?;
    let message: v1::ClusterBackupRequest = codec::decode(message)?;
    let noted = asking.enter(&message).map_err(to_status)?;
    let begun = begun(&gate.handle, asking, message).await;
    let answer = begun.as_ref().map(|_| v1::ClusterBackupResponse::default());
    asking.left(noted, &answer.map_err(Clone::clone));
    let (begin, state) = begun.map_err(|refusal| to_status(gate.handle.with_hint(refusal)))?;
    let ends = Ends {
        stop: gate.stop.clone(),
        lasting: asking.standing.lasting(),
    };
    Ok(respond(sent(gate.handle.clone(), begin, state, ends)))
}

/// What ends a backup before it is whole.
struct Ends {
    stop: Stop,
    lasting: Lasting,
}

/// The first message, and the state to send.
async fn begun(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterBackupRequest,
) -> Result<(v1::ClusterBackupBegin, State), Refusal> {
    let TakeBackup { read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    if let Some(doubt) = handle.consensus().doubt() {
        let message = format!("a backup might be of the faulty state: {doubt}");
        return Err(Refusal::new(ErrorKind::Unavailable, message));
    }
    let state = reading.published().state.clone();
    let begin = v1::ClusterBackupBegin {
        header: Some(handle.header_of(&reading)),
        cluster_name: handle.consensus().identity().cluster.clone(),
        log_time_ms: state.log_time().as_millis(),
        wall_time_ms: handle.wall_time().as_millis(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine_version: state.machine_version(),
        format: BACKUP_FORMAT,
    };
    Ok((begin, state))
}

/// The messages of a backup. Nothing is made that nobody takes: the channel has room for one.
fn sent(
    handle: Handle,
    begin: v1::ClusterBackupBegin,
    state: State,
    ends: Ends,
) -> impl Stream<Item = Result<Bytes, Status>> + Send + 'static {
    let (parts, taken) = mpsc::channel(0);
    let making = async move {
        tokio::select! {
            biased;
            refusal = ends.come() => Err(refusal),
            made = make(handle, begin, state, parts) => made,
        }
    };
    let failure =
        making.map(|made| stream::iter(made.err().map(|refusal| Err(to_status(refusal)))));
    stream::select(taken.map(Ok), failure.flatten_stream())
}

async fn make(
    handle: Handle,
    begin: v1::ClusterBackupBegin,
    state: State,
    mut parts: Sender<Bytes>,
) -> Result<(), Refusal> {
    // Once the reader has gone, nobody needs the rest.
    let mut send = async |part: Part| {
        let message = v1::ClusterBackupResponse { part: Some(part) };
        parts.send(Encoded::of(&message).framed()).await.is_ok()
    };
    if !send(Part::Begin(begin)).await {
        return Ok(());
    }
    let state = handle
        .consensus()
        .check_memory(state)
        .await
        .map_err(|damage| Refusal::new(ErrorKind::DataLoss, damage.to_string()))?;
    let (mut rows_bytes, mut sha256) = (0, Sha256::new());
    for rows in RowChunks::new(state.rows(), BACKUP_ROWS_BYTES_MAX) {
        rows_bytes += rows.len() as u64;
        sha256.update(&rows);
        if !send(Part::Rows(rows)).await {
            return Ok(());
        }
    }
    let end = v1::ClusterBackupEnd {
        rows_bytes,
        sha256: sha256.finalize().to_vec().into(),
    };
    send(Part::End(end)).await;
    Ok(())
}

impl Ends {
    /// Resolves when the backup must end, and why.
    async fn come(self) -> Refusal {
        let Self { stop, lasting } = self;
        tokio::select! {
            biased;
            () = stop.requested() => {
                let message = "this replica is stopping: begin the backup again, on another replica";
                Refusal::new(ErrorKind::Unavailable, message)
            }
            () = lasting.ended() => {
                let message = "what the caller may do has changed while the backup was read: begin it again";
                Refusal::new(ErrorKind::PermissionDenied, message)
            }
            () = tokio::time::sleep(BACKUP_TIME_MAX) => {
                let message = format!("the backup was not read within {BACKUP_TIME_MAX:?}: it is not whole");
                Refusal::new(ErrorKind::DeadlineExceeded, message)
            }
        }
    }
}
