//! A collector of OpenTelemetry on loopback, which keeps what is exported to it; and one that hangs.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use data_encoding::HEXLOWER;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use crate::waiting::eventually;

/// A collector. It ends when this is dropped.
pub(crate) struct Collector {
    address: SocketAddr,
    exports: Exports,
    task: JoinHandle<()>,
}

/// What was exported. Clones share it.
#[derive(Clone, Default)]
struct Exports(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

/// A span as the collector got it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) span: Span,
    /// The attributes of the process that made it.
    process: Vec<KeyValue>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("there are free ports");
        let address = listener.local_addr().expect("it is bound");
        let exports = Exports::default();
        let service = TraceServiceServer::new(exports.clone());
        let serving = Server::builder()
            .add_service(service)
            .serve_with_incoming(TcpIncoming::from(listener));
        let task = tokio::spawn(async move { serving.await.expect("it serves") });
        Self {
            address,
            exports,
            task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was exported, as a text.
    pub(crate) fn text(&self) -> String {
        format!(
            "{:?}",
            self.exports.0.lock().expect("nobody panics with it")
        )
    }

    /// All spans, in the order in which they came.
    pub(crate) fn spans(&self) -> Vec<Seen> {
        let exports = self.exports.0.lock().expect("nobody panics with it");
        let resources = exports.iter().flat_map(|export| &export.resource_spans);
        let spans = resources.flat_map(|of| {
            let process = of.resource.as_ref().map(|it| it.attributes.clone());
            let process = process.unwrap_or_default();
            let spans = of.scope_spans.iter().flat_map(|scope| &scope.spans);
            spans.map(move |span| Seen {
                span: span.clone(),
                process: process.clone(),
            })
        });
        spans.collect()
    }

    /// The spans of a trace, once spans of all these names are among them.
    pub(crate) async fn trace(&self, id: &str, names: &[&str]) -> Trace {
        eventually(&format!("the trace {id}"), async || {
            let spans = self.spans().into_iter();
            let spans: Vec<Seen> = spans
                .filter(|seen| HEXLOWER.encode(&seen.span.trace_id) == id)
                .collect();
            let mut lacking = names.to_vec();
            for seen in &spans {
                if let Some(place) = lacking.iter().position(|name| *name == seen.span.name) {
                    lacking.remove(place);
                }
            }
            let trace = Trace(spans);
            if lacking.is_empty() {
                return Ok(trace);
            }
            Err(format!("no {lacking:?}, but {trace:?}"))
        })
        .await
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tonic::async_trait]
impl TraceService for Exports {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut exports = self.0.lock().expect("nobody panics with it");
        exports.push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// The spans of one trace.
pub(crate) struct Trace(Vec<Seen>);

impl Trace {
    /// The one span of this name below a span.
    pub(crate) fn below(&self, parent: &str, name: &str) -> &Seen {
        let mut found = self.0.iter().filter(|seen| {
            seen.span.name == name && HEXLOWER.encode(&seen.span.parent_span_id) == parent
        });
        let first = found.next();
        let first = first.unwrap_or_else(|| panic!("no {name} below {parent}: {self:?}"));
        assert!(
            found.next().is_none(),
            "two {name} below {parent}: {self:?}"
        );
        first
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |seen: &Seen| {
            let parent = HEXLOWER.encode(&seen.span.parent_span_id);
            format!("{} {} below {parent}", seen.id(), seen.span.name)
        };
        f.debug_list().entries(self.0.iter().map(line)).finish()
    }
}

impl Seen {
    pub(crate) fn id(&self) -> String {
        HEXLOWER.encode(&self.span.span_id)
    }

    /// An attribute of the span.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        value(&self.span.attributes, name)
    }

    /// An attribute of the process that made it.
    pub(crate) fn process(&self, name: &str) -> Option<String> {
        value(&self.process, name)
    }
}

fn value(attributes: &[KeyValue], name: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == name)?;
    match &attribute.value {
        Some(AnyValue {
            value: Some(Value::StringValue(text)),
        }) => Some(text.clone()),
        Some(AnyValue {
            value: Some(Value::IntValue(number)),
        }) => Some(number.to_string()),
        other => panic!("{name} is {other:?}"),
    }
}

/// The URL of a collector that takes connections and never answers, for as long as the listener lives.
pub(crate) fn hanging() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let address = listener.local_addr().expect("it is bound");
    (listener, format!("http://{address}"))
}
