//! Traces of OpenTelemetry.

use opentelemetry::global::{self, BoxedSpan, BoxedTracer};
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, Tracer as _};
use opentelemetry::{Context, KeyValue};

use super::{CallSpan, Traces, grpc_status};
use crate::Error;

/// Makes a span of OpenTelemetry for each call, below the one that is current where the call is made, by the application's
/// global provider of tracers. Spans have the attributes that the conventions for gRPC name, and an event for each failed try.
#[derive(Debug)]
pub struct OpenTelemetry {
    tracer: BoxedTracer,
}

impl OpenTelemetry {
    /// Spans by the global provider, which must have been set before.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tracer: global::tracer(env!("CARGO_PKG_NAME")),
        }
    }
}

impl Default for OpenTelemetry {
    fn default() -> Self {
        Self::new()
    }
}

impl Traces for OpenTelemetry {
    fn begin(&self, method: &str) -> Option<Box<dyn CallSpan>> {
        let (service, name) = method.rsplit_once('/')?;
        let attributes = [
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", service.to_owned()),
            KeyValue::new("rpc.method", name.to_owned()),
        ];
        let builder = SpanBuilder::from_name(method.to_owned())
            .with_kind(SpanKind::Client)
            .with_attributes(attributes);
        let span = self.tracer.build_with_context(builder, &Context::current());
        let is_named = span.span_context().is_valid();
        is_named.then(|| Box::new(Followed { span }) as Box<dyn CallSpan>)
    }
}

struct Followed {
    span: BoxedSpan,
}

impl CallSpan for Followed {
    fn traceparent(&self) -> Option<String> {
        let context = self.span.span_context();
        let flags = u8::from(context.is_sampled());
        let (trace, span) = (context.trace_id(), context.span_id());
        Some(format!("00-{trace}-{span}-{flags:02x}"))
    }

    fn tracestate(&self) -> Option<String> {
        let state = self.span.span_context().trace_state().header();
        (!state.is_empty()).then_some(state)
    }

    fn try_failed(&mut self, endpoint: &str, error: &Error) {
        let attributes = vec![
            KeyValue::new("server.address", endpoint.to_owned()),
            KeyValue::new("error.type", error.kind().reason()),
        ];
        self.span.add_event("a try failed", attributes);
    }

    fn ended(mut self: Box<Self>, error: Option<&Error>) {
        let code = error.map_or(0, |error| i64::from(grpc_status(error.kind())));
        let code = KeyValue::new("rpc.grpc.status_code", code);
        self.span.set_attribute(code);
        if let Some(error) = error {
            let kind = KeyValue::new("error.type", error.kind().reason());
            self.span.set_attribute(kind);
            // The message may hold values.
            self.span.set_status(Status::error(""));
        }
        self.span.end();
    }
}
