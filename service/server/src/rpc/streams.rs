//! What all streams share: the messages that come in, and the response that carries the frames of the answers.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use futures::Stream;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::StreamBody;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{DecodeBuf, Decoder, Streaming};

use super::gate::Response;

/// The encoded messages of a request. How long one may be is checked before, by the guard around the body.
pub(super) struct Messages(Streaming<Bytes>);

/// Splits messages and does not read them.
struct Split;

impl Messages {
    pub(super) fn of(body: Body) -> Self {
        Self(Streaming::new_request(Split, body, None, Some(usize::MAX)))
    }
}

impl Stream for Messages {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.0).poll_next(context)
    }
}

impl Decoder for Split {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// The response that carries these pieces, and after them the status of the error that ended them, or `OK`.
pub(super) fn respond(
    pieces: impl Stream<Item = Result<Bytes, Status>> + Send + 'static,
) -> Response {
    let frames = Frames {
        pieces: Box::pin(pieces),
        ended: false,
    };
    let mut response = http::Response::new(Body::new(StreamBody::new(frames)));
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    response
}

struct Frames<S> {
    pieces: Pin<Box<S>>,
    ended: bool,
}

impl<S: Stream<Item = Result<Bytes, Status>>> Stream for Frames<S> {
    type Item = Result<Frame<Bytes>, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let status = match ready!(self.pieces.as_mut().poll_next(context)) {
            Some(Ok(piece)) => return Poll::Ready(Some(Ok(Frame::data(piece)))),
            Some(Err(status)) => status,
            None => Status::ok(""),
        };
        self.ended = true;
        let mut trailers = HeaderMap::new();
        let added = status.add_header(&mut trailers);
        Poll::Ready(Some(added.map(|()| Frame::trailers(trailers))))
    }
}
