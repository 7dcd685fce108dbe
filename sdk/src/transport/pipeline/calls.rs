//! Calls as the generated clients make them, carried over a pipeline.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use http::HeaderValue;
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use prost::bytes::{BufMut as _, Bytes, BytesMut};
use synod_proto::v1;
use tonic::Status;
use tonic::body::Body;

use super::{Answered, Pipeline};
use crate::transport::call_trace::{TRACEPARENT, TRACESTATE};

/// How a method is carried over a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport) enum Kind {
    /// One request, one answer.
    Call,
    /// One request, many messages.
    Watch,
    /// A stream of requests, each with its answer.
    Renewals,
}

/// A longer message goes in a stream of its own: it would hold up the calls behind it.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// The length of a message's head: that it is not compressed, and its length.
const HEAD_BYTES: usize = 5;

impl Kind {
    /// How the method of a path is carried. `None`: not at all, as its answers may be long.
    pub(in crate::transport) fn of_path(path: &str) -> Option<Self> {
        let (service, method) = path.strip_prefix("/synod.v1.")?.split_once('/')?;
        match (service, method) {
            ("Watch", _) => Some(Self::Watch),
            (_, "Renew") => Some(Self::Renewals),
            (_, "List" | "ListCandidates" | "History" | "Diff" | "Report" | "Backup") => None,
            _ => Some(Self::Call),
        }
    }
}

/// The response to a call that is carried over the pipeline; the request, if it does not fit in.
pub(in crate::transport) async fn answered(
    pipeline: Arc<Pipeline>,
    kind: Kind,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, http::Request<Body>> {
    let (head, body) = request.into_parts();
    let template = v1::PipelineCall {
        method: head.uri.path().trim_start_matches('/').to_owned(),
        timeout_ms: head.headers.get("grpc-timeout").and_then(timeout_ms),
        traceparent: head.headers.get(TRACEPARENT).map_or_else(String::new, text),
        tracestate: head.headers.get(TRACESTATE).map_or_else(String::new, text),
        ..v1::PipelineCall::default()
    };
    if kind == Kind::Renewals {
        return Ok(response(renewals(pipeline, template, body)));
    }
    let framed = match body.collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(status) => return Ok(status.into_http()),
    };
    if framed.len() > MESSAGE_BYTES_MAX {
        return Err(http::Request::from_parts(
            head,
            Body::new(Full::new(framed).map_err(never)),
        ));
    }
    let call = v1::PipelineCall {
        message: message(framed),
        ..template
    };
    Ok(match kind {
        Kind::Watch => match pipeline.watch(call).await {
            Ok((number, messages)) => response(stream::unfold(
                (number, messages),
                |(number, mut messages)| async move {
                    let message = messages.recv().await?;
                    Some((message, (number, messages)))
                },
            )),
            Err(status) => status.into_http(),
        },
        Kind::Call | Kind::Renewals => match pipeline.call(call).await {
            Ok(message) => response(stream::once(std::future::ready(Ok(message)))),
            Err(status) => status.into_http(),
        },
    })
}

/// The answers to the renewals of a body, one by one.
fn renewals(
    pipeline: Arc<Pipeline>,
    template: v1::PipelineCall,
    body: Body,
) -> impl Stream<Item = Answered> + Send + 'static {
    // The clients write one message into a frame.
    let frames = body.into_data_stream();
    stream::unfold(
        (pipeline, template, frames),
        |(pipeline, template, mut frames)| async move {
            let answer = match frames.next().await? {
                Ok(framed) => {
                    let call = v1::PipelineCall {
                        message: message(framed),
                        ..template.clone()
                    };
                    pipeline.call(call).await
                }
                Err(status) => Err(status),
            };
            Some((answer, (pipeline, template, frames)))
        },
    )
}

/// The response with these messages, and then the trailers: of the first error, or `OK`.
fn response(messages: impl Stream<Item = Answered> + Send + 'static) -> http::Response<Body> {
    let frames = messages
        .map(Some)
        .chain(stream::once(std::future::ready(None)))
        .scan(false, |has_ended, message| {
            let frame = match message {
                _ if *has_ended => return std::future::ready(None),
                Some(Ok(message)) => Ok(Frame::data(framed(&message))),
                Some(Err(status)) => {
                    *has_ended = true;
                    trailers(&status)
                }
                None => trailers(&Status::ok("")),
            };
            std::future::ready(Some(frame))
        });
    let mut response = http::Response::new(Body::new(StreamBody::new(frames)));
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    response
}

fn trailers(status: &Status) -> Result<Frame<Bytes>, Status> {
    let mut trailers = http::HeaderMap::new();
    status.add_header(&mut trailers)?;
    Ok(Frame::trailers(trailers))
}

/// A message without its head.
fn message(mut framed: Bytes) -> Bytes {
    framed.split_off(framed.len().min(HEAD_BYTES))
}

/// A message with its head.
fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(HEAD_BYTES + message.len());
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(message);
    framed.freeze()
}

/// The milliseconds of a header `grpc-timeout`, at least one.
fn timeout_ms(value: &HeaderValue) -> Option<u32> {
    let text = value.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count: u64 = digits.parse().ok()?;
    let timeout = match unit {
        "H" => Duration::from_secs(count * 3_600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    };
    let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
    Some(millis.max(1))
}

/// A header as a text; empty if it is none.
fn text(value: &HeaderValue) -> String {
    value.to_str().unwrap_or_default().to_owned()
}

fn never(never: std::convert::Infallible) -> Status {
    match never {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_short_answers_is_carried() {
        for (path, kind) in [
            ("/synod.v1.Objects/Update", Some(Kind::Call)),
            ("/synod.v1.Objects/List", None),
            ("/synod.v1.Leases/Renew", Some(Kind::Renewals)),
            ("/synod.v1.Watch/Watch", Some(Kind::Watch)),
            ("/grpc.health.v1.Health/Check", None),
            ("", None),
        ] {
            assert_eq!(Kind::of_path(path), kind, "{path}");
        }
    }

    #[test]
    fn the_timeout_of_a_call_is_that_of_its_header() {
        let mut request = tonic::Request::new(());
        for (timeout, ms) in [
            (Duration::from_secs(5), 5_000),
            (Duration::from_millis(250), 250),
            (Duration::from_micros(3), 1),
            (Duration::from_secs(1 << 23), u32::MAX),
        ] {
            request.set_timeout(timeout);
            let header = request.metadata().clone().into_headers();
            assert_eq!(timeout_ms(&header["grpc-timeout"]), Some(ms), "{timeout:?}");
        }
    }
}
