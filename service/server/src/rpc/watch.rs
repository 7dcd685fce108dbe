//! `synod.v1.Watch`, written by hand where the other services are generated: its messages are encoded already.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BufMut;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use synod_model::limits::REQUEST_BYTES_MAX;
use synod_proto::codec::{GuardedCodec, GuardedDecoder};
use synod_proto::v1;
use tonic::body::Body;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic::server::{Grpc, NamedService, ServerStreamingService};
use tonic::{Code, Request, Response, Status};
use tower::Service;

use super::{answer, opened, typed};
use crate::handle::{Asking, Handle};
use crate::watch::WatchMessage;

const PATH: &str = "/synod.v1.Watch/Watch";

/// See the module.
#[derive(Clone)]
pub(super) struct WatchService(pub(super) Handle);

type Messages = BoxStream<'static, Result<WatchMessage, Status>>;
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
            let mut grpc = Grpc::new(WatchCodec).max_decoding_message_size(REQUEST_BYTES_MAX);
            Ok(grpc.server_streaming(service, request).await)
        }
        .boxed()
    }
}

impl ServerStreamingService<v1::WatchRequest> for WatchService {
    type Response = WatchMessage;
    type ResponseStream = Messages;
    type Future = Future_<Result<Response<Messages>, Status>>;

    fn call(&mut self, request: Request<v1::WatchRequest>) -> Self::Future {
        let handle = self.0.clone();
        async move {
            let (asking, message) = opened(request);
            answer(&handle, watch(&handle, &asking, message).await)
        }
        .boxed()
    }
}

async fn watch(
    handle: &Handle,
    asking: &Asking,
    message: v1::WatchRequest,
) -> Result<Messages, synod_model::Refusal> {
    let cursor = handle.watch(asking, typed(message)?).await?;
    let messages = futures::stream::unfold(cursor, |mut cursor| async move {
        let message = cursor.next().await?;
        Some((Ok(message), cursor))
    });
    Ok(messages.boxed())
}

/// Reads requests as every other service does, and writes messages that are encoded already.
struct WatchCodec;

/// See [`WatchCodec`].
struct Encoded;

impl Codec for WatchCodec {
    type Encode = WatchMessage;
    type Decode = v1::WatchRequest;
    type Encoder = Encoded;
    type Decoder = GuardedDecoder<v1::WatchRequest>;

    fn encoder(&mut self) -> Encoded {
        Encoded
    }

    fn decoder(&mut self) -> Self::Decoder {
        GuardedCodec::<v1::WatchResponse, v1::WatchRequest>::default().decoder()
    }
}

impl Encoder for Encoded {
    type Item = WatchMessage;
    type Error = Status;

    fn encode(&mut self, message: WatchMessage, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(message.len());
        message
            .pieces()
            .iter()
            .for_each(|piece| buffer.put_slice(piece));
        Ok(())
    }
}
