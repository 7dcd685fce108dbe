//! Calls with one request and one answer over HTTP/2, which are most calls: between the connection and the handler there
//! is nothing but the gate.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use synod_proto::status::to_status;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};

use super::answers::room;
use super::bodies::Guarded;
use super::calls::{Encoded, HEAD_BYTES, Handler};
use super::gate::{GateParts, Request, Response};
use super::handlers::Known;
use super::timeout::timeout;
use super::{spans, trace};
use crate::connections::{Call, Held, Line, Pieces};
use crate::handle::Asking;
use crate::seams::Caller;

/// Answers one call.
pub(super) async fn answered(
    gate: Arc<GateParts>,
    known: &'static Known,
    handler: Handler,
    mut request: Request,
    line: Option<Arc<Line>>,
) -> Response {
    let began = Instant::now();
    gate.metrics.started(known.number);
    let name = gate.names.of(request.headers());
    let call = line.as_ref().map(Line::call);
    let (caller, peer) = gate.met(&mut request);
    let span = gate.span(known, &name, &caller, request.headers());
    let mut asking = gate.asking(known, &name, line.clone(), &peer);
    asking.span = span.clone();
    let answer = carried(&gate, known, handler, request, (caller, asking)).await;
    let code = answer.as_ref().map_or_else(Status::code, |_| Code::Ok);
    let mut response = match answer {
        Ok(answer) => response(answer, line.as_ref(), call),
        Err(status) => status.into_http(),
    };
    trace::tell(&name, response.headers_mut());
    gate.metrics.handled(known.number, code, began.elapsed());
    spans::answered(&span, code);
    response
}

/// Admits the call, reads its message and carries it out. What the call holds is released when this returns.
async fn carried(
    gate: &GateParts,
    known: &Known,
    handler: Handler,
    request: Request,
    (caller, mut asking): (Caller, Asking),
) -> Result<Encoded, Status> {
    let method = known.method;
    asking.deadline += timeout(request.headers()).map_err(to_status)?;
    gate.stand(&mut asking, known, &caller).map_err(to_status)?;
    // Before a message is read that is of no use.
    let allowed = asking.standing.allow_stream(asking.called.right);
    let allowed = allowed.inspect_err(|refusal| asking.denied(None, refusal));
    allowed.map_err(to_status)?;
    let _place = gate.admission.admit(method.class).map_err(to_status)?;
    let (body, _held) = gate
        .bodies
        .guarded(method, asking.deadline, request.into_body());
    room(asking.line.as_deref(), method.class, asking.deadline)
        .await
        .map_err(to_status)?;
    let message = message(body).await?;
    // What the caller may do counts now, however long its message took.
    gate.stand(&mut asking, known, &caller).map_err(to_status)?;
    let line = asking.line.clone();
    let mut answer = handler(gate.handle.clone(), asking, message);
    if let Poll::Ready(answer) = futures::poll!(&mut answer) {
        return answer;
    }
    let _waits = line.as_ref().map(Line::wait);
    answer.await
}

/// The one message of a request.
async fn message(mut body: Guarded) -> Result<Bytes, Status> {
    let mut whole = Bytes::new();
    let mut more = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        // A small request comes in one piece, which is shared and not copied.
        if whole.is_empty() && more.is_empty() {
            whole = data;
            continue;
        }
        if more.is_empty() {
            more.extend_from_slice(&std::mem::take(&mut whole));
        }
        more.extend_from_slice(&data);
    }
    let mut whole = if more.is_empty() {
        whole
    } else {
        more.freeze()
    };
    let Some((&[compressed, a, b, c, d], rest)) = whole.split_first_chunk::<HEAD_BYTES>() else {
        return Err(Status::internal("the request has no message"));
    };
    if compressed != 0 {
        return Err(Status::unimplemented("messages must not be compressed"));
    }
    if u32::try_from(rest.len()) != Ok(u32::from_be_bytes([a, b, c, d])) {
        return Err(Status::internal("the request is not one whole message"));
    }
    Ok(whole.split_off(HEAD_BYTES))
}

fn response(answer: Encoded, line: Option<&Arc<Line>>, call: Option<Call>) -> Response {
    let bytes = answer.framed();
    let left = match line {
        Some(line) => Left::Pieces(Held::own(line, bytes).pieces()),
        None => Left::Whole(bytes),
    };
    let mut response = http::Response::new(Body::new(Answer { left, _call: call }));
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    response
}

/// The body of an answer: its message and the trailers. Its call counts as active until they are taken.
struct Answer {
    left: Left,
    _call: Option<Call>,
}

/// What of an answer is still to be sent.
enum Left {
    Pieces(Pieces),
    Whole(Bytes),
    Trailers,
    Nothing,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = match &mut self.left {
            Left::Pieces(pieces) => match pieces.next() {
                Some(piece) => Frame::data(piece),
                None => {
                    self.left = Left::Nothing;
                    trailers()
                }
            },
            Left::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.left = Left::Trailers;
                Frame::data(bytes)
            }
            Left::Trailers => {
                self.left = Left::Nothing;
                trailers()
            }
            Left::Nothing => return Poll::Ready(None),
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.left, Left::Nothing)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// The trailers of a call that was answered with a message.
pub(super) fn trailers() -> Frame<Bytes> {
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
    Frame::trailers(trailers)
}
