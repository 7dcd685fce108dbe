//! A collector of OpenTelemetry on loopback, which keeps what is exported to it; and one that hangs.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use data_encoding::HEXLOWER;
use futures::Stream;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use synod_server::seams::Connection;
use synod_tls::{Acceptor, Certificate, KeyPair, Pem, Protocol, ServerTls, Versions};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tonic::transport::Server;
use tonic::transport::server::{Connected, TcpIncoming};
use tonic::{Request, Response, Status};

use crate::certificates::Certificates;
use crate::waiting::eventually;

/// A collector. It ends when this is dropped.
pub(crate) struct Collector {
    address: SocketAddr,
    exports: Exports,
    scheme: &'static str,
    /// Its connections end with it. `None` once it is being dropped.
    runtime: Option<Runtime>,
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

impl Seen {
    /// The id of its trace.
    pub(crate) fn trace(&self) -> String {
        HEXLOWER.encode(&self.span.trace_id)
    }
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let (listener, address) = bound(([127, 0, 0, 1], 0).into()).await;
        Self::serving("http", address, async move {
            let listener = TcpListener::from_std(listener).expect("it is a listener");
            TcpIncoming::from(listener)
        })
    }

    /// A collector behind TLS at this address, which shows the replicas' certificate of one folder and asks for one that the
    /// CA for clients of another has signed.
    pub(crate) async fn start_secured(
        shown: &Certificates,
        trusted: &Certificates,
        at: SocketAddr,
    ) -> Self {
        let (listener, address) = bound(at).await;
        let file = |name: &str| Pem::File(shown.file(name));
        let acceptor = Acceptor::load(ServerTls {
            own: KeyPair {
                certificate: file("server.pem"),
                key: file("server-key.pem"),
            },
            trusted_ca: Some(Pem::File(trusted.file("client-ca.pem"))),
            proxy_ca: None,
            versions: Versions::default(),
        });
        let acceptor = acceptor.expect("the files can be used");
        Self::serving("https", address, async move {
            let listener = TcpListener::from_std(listener).expect("it is a listener");
            secured(listener, acceptor)
        })
    }

    fn serving<I, O>(
        scheme: &'static str,
        address: SocketAddr,
        incoming: impl Future<Output = I> + Send + 'static,
    ) -> Self
    where
        I: Stream<Item = io::Result<O>> + Send + 'static,
        O: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    {
        let exports = Exports::default();
        let service = TraceServiceServer::new(exports.clone());
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.expect("there are threads");
        runtime.spawn(async move {
            let server = Server::builder().add_service(service);
            let served = server.serve_with_incoming(incoming.await).await;
            served.expect("it serves");
        });
        Self {
            address,
            exports,
            scheme,
            runtime: Some(runtime),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
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
            let spans: Vec<Seen> = spans.filter(|seen| seen.trace() == id).collect();
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
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A listener at this address, once another collector there has ended.
async fn bound(at: SocketAddr) -> (std::net::TcpListener, SocketAddr) {
    let listener = eventually("the port", async || {
        std::net::TcpListener::bind(at).map_err(|error| error.to_string())
    })
    .await;
    listener
        .set_nonblocking(true)
        .expect("sockets can be asked for that");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

/// The connections on which both ends have agreed; whoever is refused hears of it.
fn secured(
    listener: TcpListener,
    acceptor: Acceptor,
) -> impl Stream<Item = io::Result<Connection>> {
    futures::stream::unfold((listener, acceptor), |(listener, acceptor)| async move {
        loop {
            let (stream, remote) = listener.accept().await.expect("it listens");
            let agreed = acceptor.accept(stream, Protocol::Http2, Certificate::Required);
            if let Ok(agreed) = agreed.await {
                let connection = Connection::new(agreed, remote.to_string());
                return Some((Ok(connection), (listener, acceptor)));
            }
        }
    })
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
