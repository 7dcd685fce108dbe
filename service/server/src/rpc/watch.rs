//! The streams of `synod.v1.Watch`: their messages are already encoded.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream::{self, Stream, StreamExt};
use synod_model::Refusal;
use synod_proto::status::to_status;
use synod_proto::{codec, v1};
use tonic::Status;

use super::calls::{HEAD_BYTES, head};
use super::gate::{Request, Response};
use super::streams::{Messages, respond};
use super::typed;
use crate::connections::{Held, Line};
use crate::handle::{Asking, Handle};
use crate::watch::{Cursor, WatchMessage};

/// Opens the stream that a request asks for.
///
/// # Errors
///
/// The status of a request that is refused.
pub(super) async fn opened(
    handle: &Handle,
    asking: &Asking,
    request: Request,
) -> Result<Response, Status> {
    let mut messages = Messages::of(request.into_body());
    let message = messages.next().await.transpose()?;
    let message = message.ok_or_else(|| Status::internal("the request has no message"))?;
    let line = asking.line.clone();
    let cursor = cursor(handle, asking, message).await?;
    Ok(respond(sent(cursor, line)))
}

/// The cursor of a watch.
///
/// # Errors
///
/// The status of a request that is refused.
pub(super) async fn cursor(
    handle: &Handle,
    asking: &Asking,
    message: Bytes,
) -> Result<Cursor, Status> {
    let message: v1::WatchRequest = codec::decode(message)?;
    let open = async {
        let allowed = asking.standing.allow_watch(&message);
        allowed.inspect_err(|refusal| asking.denied(None, refusal))?;
        let cursor = handle.watch(asking, typed(message)?).await?;
        Ok(cursor.resting_on(asking.standing.lasting()))
    };
    let opened = open.await;
    opened.map_err(|refusal: Refusal| to_status(handle.with_hint(refusal)))
}

/// All pieces of a stream's messages.
fn sent(
    cursor: Cursor,
    line: Option<Arc<Line>>,
) -> impl Stream<Item = Result<Bytes, Status>> + Send + 'static {
    let messages = stream::unfold(cursor, |mut cursor| async move {
        let message = cursor.next().await?;
        Some((message, cursor))
    });
    messages
        .flat_map(move |message| stream::iter(pieces(&message, line.as_ref())))
        .map(Ok)
}

/// A smaller piece is copied: a frame of its own would cost more than its bytes.
const SHARED_BYTES_MIN: usize = 4 << 10;

/// The frames of a message. Large pieces are shared with the other streams that send them, and never copied.
pub(super) fn pieces(message: &WatchMessage, line: Option<&Arc<Line>>) -> Vec<Bytes> {
    let mut sent = Vec::new();
    let mut small = BytesMut::with_capacity(HEAD_BYTES + message.len().min(SHARED_BYTES_MIN));
    small.put_slice(&head(message.len()));
    for piece in message.pieces() {
        if piece.len() < SHARED_BYTES_MIN {
            small.put_slice(piece);
            continue;
        }
        if !small.is_empty() {
            send(&mut sent, small.split().freeze(), line, Held::own);
        }
        send(&mut sent, piece.clone(), line, Held::shared);
    }
    if !small.is_empty() {
        send(&mut sent, small.freeze(), line, Held::own);
    }
    sent
}

fn send(
    sent: &mut Vec<Bytes>,
    bytes: Bytes,
    line: Option<&Arc<Line>>,
    hold: impl Fn(&Arc<Line>, Bytes) -> Held,
) {
    match line {
        Some(line) => sent.extend(hold(line, bytes).pieces()),
        None => sent.push(bytes),
    }
}
