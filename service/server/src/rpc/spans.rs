//! The span of a call, by OpenTelemetry's conventions for gRPC.

use http::HeaderMap;
use opentelemetry::KeyValue;
use tonic::Code;

use super::gate::GateParts;
use super::handlers::Known;
use crate::seams::Caller;
use crate::traces::{Parent, Span};

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

impl GateParts {
    /// The span of a call with these headers, which begins now.
    pub(super) fn span(
        &self,
        known: &'static Known,
        name: &str,
        caller: &Caller,
        headers: &HeaderMap,
    ) -> Span {
        if !self.traces.are_made() {
            return Span::default();
        }
        let text = |name: &str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default()
        };
        let above = Parent {
            traceparent: text(TRACEPARENT),
            tracestate: text(TRACESTATE),
        };
        self.span_below(known, name, caller, above)
    }

    /// The span of a call that begins now, below the span that its caller names. What asks for health, which is all day long,
    /// has none. Nor has a call of somebody who is not known: whoever reaches the port could fill the queue of spans.
    pub(super) fn span_below(
        &self,
        known: &'static Known,
        name: &str,
        caller: &Caller,
        above: Parent<'_>,
    ) -> Span {
        if !self.traces.are_made()
            || known.is_open()
            || self.guards.access.standing(caller).is_err()
        {
            return Span::default();
        }
        let attributes = vec![
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", known.method.service),
            KeyValue::new("rpc.method", known.method.name),
            KeyValue::new("synod.request_id", name.to_owned()),
        ];
        let replica = self.handle.replica();
        let path = known.called().path;
        self.traces.served(path, above, replica, attributes)
    }
}

/// Ends the span of a call that was answered with this code.
pub(super) fn answered(span: &Span, code: Code) {
    if !span.is_recorded() {
        return;
    }
    span.note("rpc.grpc.status_code", i64::from(i32::from(code)));
    if is_fault(code) {
        span.fail();
    }
    span.end();
}

/// Whether the conventions hold the server to be at fault, in place of its caller.
fn is_fault(code: Code) -> bool {
    match code {
        Code::Unknown
        | Code::DeadlineExceeded
        | Code::Unimplemented
        | Code::Internal
        | Code::Unavailable
        | Code::DataLoss => true,
        Code::Ok
        | Code::Cancelled
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::ResourceExhausted
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unauthenticated => false,
    }
}
