//! The service `synod.v1.Watch`, written by hand, unlike the generated others: its messages are already encoded.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{FutureExt, Stream, StreamExt};
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::StreamBody;
use synod_model::Refusal;
use synod_model::limits::REQUEST_BYTES_MAX;
use synod_proto::codec::GuardedCodec;
use synod_proto::status::to_status;
use synod_proto::v1;
use tonic::body::Body;
use tonic::codec::{Codec, Streaming};
use tonic::server::NamedService;
use tonic::{Code, Request, Status};
use tower::Service;

use super::{opened, typed};
use crate::connections::{Held, Line};
use crate::handle::{Asking, Handle};
use crate::watch::{Cursor, WatchMessage};

const PATH: &str = "/synod.v1.Watch/Watch";

/// The service, answered from the handle.
#[derive(Clone)]
pub(super) struct WatchService(pub(super) Handle);

type Future_<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl NamedService for WatchService {
    const NAME: &'static str = "synod.v1.Watch";
}

impl Service<http::Request<Body>> for WatchService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Future_<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.clone();
        async move {
            if request.uri().path() != PATH {
                return Ok(
                    Status::new(Code::Unimplemented, "the service has no such method").into_http(),
                );
            }
            Ok(match service.open(request).await {
                Ok(frames) => response(frames),
                Err(status) => status.into_http(),
            })
        }
        .boxed()
    }
}

impl WatchService {
    /// The frames of the requested stream.
    async fn open(&self, request: http::Request<Body>) -> Result<Frames, Status> {
        let request = read(request).await?;
        let line = request.extensions().get::<Arc<Line>>().cloned();
        let (asking, message) = opened(request);
        match self.watch(&asking, message).await {
            Ok(cursor) => Ok(frames(cursor, line).boxed()),
            Err(refusal) => Err(to_status(self.0.with_hint(refusal))),
        }
    }

    async fn watch(&self, asking: &Asking, message: v1::WatchRequest) -> Result<Cursor, Refusal> {
        self.0.watch(asking, typed(message)?).await
    }
}

type Frames = BoxStream<'static, Result<Frame<Bytes>, Status>>;

/// The one message of a request, decoded as in the generated services.
async fn read(request: http::Request<Body>) -> Result<Request<v1::WatchRequest>, Status> {
    let (metadata, extensions, body) = Request::from_http(request).into_parts();
    let decoder = GuardedCodec::<v1::WatchResponse, v1::WatchRequest>::default().decoder();
    let mut messages = Streaming::new_request(decoder, body, None, Some(REQUEST_BYTES_MAX));
    let message = messages.message().await?;
    let message = message.ok_or_else(|| Status::internal("the request has no message"))?;
    Ok(Request::from_parts(metadata, extensions, message))
}

fn response(frames: Frames) -> http::Response<Body> {
    let mut response = http::Response::new(Body::new(StreamBody::new(frames)));
    let grpc = HeaderValue::from_static("application/grpc");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, grpc);
    response
}

/// All frames of a stream: its messages, and the trailers with status `OK`.
fn frames(
    cursor: Cursor,
    line: Option<Arc<Line>>,
) -> impl Stream<Item = Result<Frame<Bytes>, Status>> {
    let messages = stream::unfold(cursor, |mut cursor| async move {
        let message = cursor.next().await?;
        Some((message, cursor))
    });
    let pieces = messages.flat_map(move |message| stream::iter(pieces(&message, line.as_ref())));
    let ended = std::iter::once_with(|| {
        let mut trailers = HeaderMap::new();
        let status = Status::ok("").add_header(&mut trailers);
        status.map(|()| Frame::trailers(trailers))
    });
    pieces
        .map(|piece| Ok(Frame::data(piece)))
        .chain(stream::iter(ended))
}

/// The length of a message's head: that it is not compressed, and its length.
const HEAD_BYTES: usize = 5;

/// A smaller piece is copied: a frame of its own would cost more than its bytes.
const SHARED_BYTES_MIN: usize = 4 << 10;

/// The frames of a message. Large pieces are shared with the other streams that send them, and never copied.
fn pieces(message: &WatchMessage, line: Option<&Arc<Line>>) -> Vec<Bytes> {
    let mut sent = Vec::new();
    let mut small = BytesMut::with_capacity(HEAD_BYTES + message.len().min(SHARED_BYTES_MIN));
    small.put_u8(0);
    small.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
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
