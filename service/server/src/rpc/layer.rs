//! The layer around every call's handler: trace id, deadline, admission, limits of bytes, and metrics.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::HeaderMap;
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::to_status;
use tokio::time::Instant;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};
use tracing::Instrument;

use super::admission::{Admission, AdmissionSlot};
use super::answers::{ResponseBody, room};
use super::bodies::{self, Bodies};
use super::methods::{self, Method};
use super::timeout::timeout;
use super::trace::{self, Names};
use crate::connections::Line;
use crate::handle::Asking;
use crate::metrics::RpcMetrics;
use crate::seams::ConnectionInfo;

/// Wraps services in a [`Gate`].
#[derive(Clone)]
pub(super) struct GateLayer {
    shared: Arc<LayerParts>,
}

/// A service behind this layer.
#[derive(Clone)]
pub(super) struct Gate<S> {
    inner: S,
    shared: Arc<LayerParts>,
}

struct LayerParts {
    names: Names,
    admission: Admission,
    bodies: Bodies,
    metrics: Arc<RpcMetrics>,
}

/// What an admitted call holds.
struct Admitted {
    deadline: Instant,
    place: AdmissionSlot,
    /// The bytes of its request; `None` for a stream, whose bytes are not counted.
    held: Option<bodies::Held>,
}

type Request = http::Request<Body>;
type Response = http::Response<Body>;

impl GateLayer {
    pub(super) fn new(metrics: &Arc<RpcMetrics>) -> Self {
        methods::declare(metrics);
        let (names, admission) = (Names::new(), Admission::new(metrics));
        let bodies = Bodies::new(metrics);
        Self {
            shared: Arc::new(LayerParts {
                names,
                admission,
                bodies,
                metrics: Arc::clone(metrics),
            }),
        }
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
{
    type Response = Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let method = Method::of_path(request.uri().path());
        let began = Instant::now();
        let shared = Arc::clone(&self.shared);
        shared.metrics.started(method.service, method.name);
        let name = shared.names.of(request.headers());
        let line = line_of(&mut request);
        let admitted = shared.admit(method, began, Arc::clone(&name), &mut request);
        // The service that was polled to be ready must take this call; its clone takes the next one.
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        let span = tracing::info_span!(
            "call",
            service = method.service,
            method = method.name,
            request_id = &*name
        );
        let answered = async move {
            let mut response = match admitted {
                Ok(Admitted {
                    place,
                    held,
                    deadline,
                }) => {
                    let call = line.as_ref().map(Line::call);
                    match room(line.as_deref(), method.class, deadline).await {
                        Ok(()) => {
                            let response = inner.call(request).await?;
                            drop(held);
                            response.map(|body| {
                                ResponseBody::body(body, method.class, place, line, call)
                            })
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
            let code = code_name(response.headers());
            shared
                .metrics
                .handled(method.service, method.name, code, began.elapsed());
            Ok(response)
        };
        Box::pin(answered.instrument(span))
    }
}

impl LayerParts {
    fn admit(
        &self,
        method: Method,
        now: Instant,
        trace: Arc<str>,
        request: &mut Request,
    ) -> Result<Admitted, Refusal> {
        let deadline = now + timeout(request.headers())?;
        let place = self.admission.admit(method.class)?;
        let held = self.bodies.guard(method, deadline, request);
        let line = request.extensions().get::<Arc<Line>>().cloned();
        request.extensions_mut().insert(Asking {
            deadline,
            trace,
            line,
        });
        Ok(Admitted {
            place,
            held,
            deadline,
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

/// The name of a code as go-grpc-prometheus spells it.
fn code_name(headers: &HeaderMap) -> &'static str {
    match code(headers).unwrap_or(Code::Ok) {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
