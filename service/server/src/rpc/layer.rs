//! The layer around every call's handler: trace id, deadline, admission, limits of bytes, and metrics.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt as _;
use http::HeaderMap;
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::to_status;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::admission::{Admission, AdmissionSlot};
use super::answers::{ResponseBody, room};
use super::bodies::{self, Bodies};
use super::gate::{GateParts, Request, Response};
use super::handlers::Known;
use super::methods::{self, Class};
use super::timeout::timeout;
use super::trace::{self, Names};
use super::{backups, pipeline, renewals, spans, unary, watch};
use crate::connections::Line;
use crate::guards::Guards;
use crate::handle::{Asking, Handle};
use crate::metrics::RpcMetrics;
use crate::seams::{Caller, ConnectionInfo};
use crate::stop::Stop;
use crate::traces::{Span, Traces};

/// Wraps services in a [`Gate`].
#[derive(Clone)]
pub(super) struct GateLayer {
    shared: Arc<GateParts>,
}

/// A service behind this layer.
#[derive(Clone)]
pub(super) struct Gate<S> {
    inner: S,
    shared: Arc<GateParts>,
}

/// What an admitted call holds.
struct Admitted {
    asking: Asking,
    place: AdmissionSlot,
    /// The bytes of its request; `None` for a stream, whose bytes are not counted.
    held: Option<bodies::Held>,
}

/// The gate of a replica, which is one for all protocols.
pub(super) fn gate(
    metrics: &Arc<RpcMetrics>,
    handle: Handle,
    guards: Guards,
    traces: Traces,
    stop: Stop,
) -> Arc<GateParts> {
    methods::declare(metrics);
    let (names, admission) = (Names::new(), Admission::new(metrics));
    let bodies = Bodies::new(metrics);
    Arc::new(GateParts {
        handle,
        guards,
        names,
        admission,
        bodies,
        metrics: Arc::clone(metrics),
        traces,
        stop,
    })
}

impl GateLayer {
    pub(super) fn new(shared: Arc<GateParts>) -> Self {
        Self { shared }
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        Gate {
            inner,
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let known = Known::of_path(request.uri().path());
        let shared = Arc::clone(&self.shared);
        let line = line_of(&mut request);
        if let Some(handler) = known.handler.filter(|_| !known.method.class.is_stream()) {
            let answered = unary::answered(shared, known, handler, request, line);
            return Box::pin(answered.map(Ok));
        }
        // The service that was polled to be ready must take this call; its clone takes the next one.
        let ready = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, ready);
        Box::pin(opened(shared, known, inner, request, line))
    }
}

/// Opens a stream, or passes on a call to the service of a library.
async fn opened<S>(
    shared: Arc<GateParts>,
    known: &'static Known,
    mut inner: S,
    mut request: Request,
    line: Option<Arc<Line>>,
) -> Result<Response, S::Error>
where
    S: Service<Request, Response = Response>,
{
    let began = Instant::now();
    shared.metrics.started(known.number);
    let name = shared.names.of(request.headers());
    let class = known.method.class;
    let (caller, peer) = shared.met(&mut request);
    // A stream of calls has one for each call, and one of renewals goes on for as long as a member lives.
    let span = if matches!(class, Class::Watch | Class::Backup) {
        shared.span(known, &name, &caller, request.headers())
    } else {
        Span::default()
    };
    let mut asking = shared.asking(known, &name, line.clone(), &peer);
    asking.span = span.clone();
    let admitted = shared.admit(known, (caller, asking), &mut request);
    let mut response = match admitted {
        Ok(Admitted {
            place,
            held,
            asking,
        }) => {
            let call = line.as_ref().map(Line::call);
            match room(line.as_deref(), class, asking.deadline).await {
                Ok(()) => {
                    let response = match shared.stream(known, &asking, request, held.clone()).await
                    {
                        Ok(response) => response,
                        Err(request) => inner.call(request).await?,
                    };
                    drop(held);
                    response.map(|body| ResponseBody::body(body, class, place, line, call))
                }
                Err(refusal) => to_status(refusal).into_http(),
            }
        }
        Err(refusal) => to_status(refusal).into_http(),
    };
    if is_too_long(response.headers()) {
        response = to_status(too_long()).into_http();
    }
    trace::tell(&name, response.headers_mut());
    let code = code(response.headers()).unwrap_or(Code::Ok);
    spans::answered(&span, code);
    shared.metrics.handled(known.number, code, began.elapsed());
    Ok(response)
}

impl GateParts {
    fn admit(
        &self,
        known: &Known,
        (caller, mut asking): (Caller, Asking),
        request: &mut Request,
    ) -> Result<Admitted, Refusal> {
        let method = known.method;
        asking.deadline += timeout(request.headers())?;
        self.stand(&mut asking, known, &caller)?;
        if !known.is_open() {
            let allowed = asking.standing.allow_stream(asking.called.right);
            allowed.inspect_err(|refusal| asking.denied(None, refusal))?;
        }
        let place = self.admission.admit(method.class)?;
        let body = std::mem::take(request.body_mut());
        let (body, held) = self.bodies.guarded(method, asking.deadline, body);
        *request.body_mut() = Body::new(body);
        Ok(Admitted {
            place,
            held,
            asking,
        })
    }

    /// Opens a stream of this protocol; a request for another service is returned.
    async fn stream(
        self: &Arc<Self>,
        known: &'static Known,
        asking: &Asking,
        request: Request,
        held: Option<bodies::Held>,
    ) -> Result<Response, Request> {
        Ok(match (known.method.class, known.handler) {
            (Class::Watch, _) => watch::opened(&self.handle, asking, request)
                .await
                .unwrap_or_else(Status::into_http),
            (Class::Backup, _) => backups::opened(self, asking, request)
                .await
                .unwrap_or_else(Status::into_http),
            (Class::Pipeline, _) => pipeline::opened(self, asking, request, held),
            (Class::RenewalStream, Some(handler)) => {
                renewals::opened(self, known, handler, asking, request)
            }
            _ => return Err(request),
        })
    }
}

/// The connection that a request came in by, which is added to the request's extensions.
fn line_of(request: &mut Request) -> Option<Arc<Line>> {
    let line = request.extensions().get::<ConnectionInfo>()?.line.clone()?;
    request.extensions_mut().insert(Arc::clone(&line));
    Some(line)
}

/// Whether tonic refused a message for its length: its code `OUT_OF_RANGE` has another meaning in this API.
fn is_too_long(headers: &HeaderMap) -> bool {
    const DETAILS: &str = "grpc-status-details-bin";
    code(headers) == Some(Code::OutOfRange) && !headers.contains_key(DETAILS)
}

fn too_long() -> Refusal {
    Refusal::new(
        ErrorKind::TooLarge,
        "the request is longer than this method takes: the limits are in the documentation",
    )
}

/// The code of a call that was answered without a message. With a message, the code is in the trailers, which follow.
fn code(headers: &HeaderMap) -> Option<Code> {
    headers
        .get(Status::GRPC_STATUS)
        .map(|value| Code::from_bytes(value.as_bytes()))
}
