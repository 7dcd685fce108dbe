//! The gate in front of an HTTP server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use synod_model::GroupResource;
use tower::{Layer, Service};

use super::rules::{self, Ruling};
use super::{Gate, Permit, RequestInfo, answer};

/// A [`tower::Layer`] that lets no write through to a Kubernetes-like API server that the [`Gate`] would not.
///
/// A request that writes is given a [`Permit`] in its extensions, which says in which version to encode and has to be
/// used as its documentation says; also there is the [`RequestInfo`] that was read from the request, unless the server
/// had put its own there before. A write that the gate does not let through is answered with `503` and a `Status` whose
/// message is that of Kubernetes' storage version filter.
///
/// What passes without a permit: what is not about a resource, `get`, `list` and `watch`, StorageVersions, and resources
/// that are not stored. Namespaces and leases are not exempt: Synod keeps no membership in them.
#[derive(Clone, Debug)]
pub struct GateLayer {
    door: Option<Arc<Door>>,
}

#[derive(Clone, Debug)]
struct Door {
    gate: Gate,
    wait: Duration,
    not_stored: BTreeSet<GroupResource>,
}

impl GateLayer {
    /// The layer for a gate. A write that finds it closed is refused at once; see [`GateLayer::wait`].
    #[must_use]
    pub fn new(gate: Gate) -> Self {
        let door = Door {
            gate,
            wait: Duration::ZERO,
            not_stored: rules::not_stored_by_kubernetes(),
        };
        Self {
            door: Some(Arc::new(door)),
        }
    }

    /// A layer that lets everything through, for servers that take part in no cluster.
    #[must_use]
    pub fn absent() -> Self {
        Self { door: None }
    }

    /// How long a write may wait for the gate to open before it is refused.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        self.with(|door| door.wait = wait)
    }

    /// Further resources that the server answers and does not store, so that they are never reported. Those of
    /// Kubernetes, such as `tokenreviews.authentication.k8s.io`, are known.
    #[must_use]
    pub fn not_stored(self, resources: Vec<GroupResource>) -> Self {
        self.with(|door| door.not_stored.extend(resources))
    }

    fn with(mut self, change: impl FnOnce(&mut Door)) -> Self {
        if let Some(door) = &mut self.door {
            change(Arc::make_mut(door));
        }
        self
    }
}

impl<S> Layer<S> for GateLayer {
    type Service = GateService<S>;

    fn layer(&self, inner: S) -> GateService<S> {
        GateService {
            inner,
            door: self.door.clone(),
        }
    }
}

/// A server behind a [`GateLayer`].
#[derive(Clone, Debug)]
pub struct GateService<S> {
    inner: S,
    door: Option<Arc<Door>>,
}

impl<S, ReqBody, ResBody> Service<Request<ReqBody>> for GateService<S>
where
    S: Service<Request<ReqBody>, Response = Response<ResBody>> + Clone + Send + 'static,
    S::Future: Send,
    ReqBody: Send + 'static,
    ResBody: From<String>,
{
    type Response = Response<ResBody>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<ResBody>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<ReqBody>) -> Self::Future {
        let Some(door) = self.door.clone() else {
            return Box::pin(self.inner.call(request));
        };
        // The one that was polled ready is used up; the other takes its place.
        let fresh = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, fresh);
        Box::pin(async move {
            match door.permit(&mut request).await {
                Ok(permit) => {
                    request.extensions_mut().extend(permit);
                    inner.call(request).await
                }
                Err(refusal) => Ok(refusal.into_response()),
            }
        })
    }
}

/// What is answered in place of the server.
struct Refusal {
    code: StatusCode,
    reason: &'static str,
    message: String,
}

impl Door {
    /// What goes into the request's extensions.
    async fn permit<B>(&self, request: &mut Request<B>) -> Result<http::Extensions, Refusal> {
        if request.extensions().get::<RequestInfo>().is_none()
            && let Some(info) = RequestInfo::parse(request.method(), request.uri())
        {
            request.extensions_mut().insert(info);
        }
        let info = request.extensions().get::<RequestInfo>();
        let mut extensions = http::Extensions::new();
        match rules::rule(&self.gate, &self.not_stored, info) {
            Ruling::Pass => {}
            Ruling::Unreadable => return Err(Refusal::unreadable()),
            Ruling::Unreportable(resource) => return Err(self.unreportable(&resource)),
            Ruling::Permit(resource) => {
                extensions.insert::<Permit>(self.wait_for_permit(&resource).await?);
            }
        }
        Ok(extensions)
    }

    async fn wait_for_permit(&self, resource: &GroupResource) -> Result<Permit, Refusal> {
        let permit = self.gate.wait_for_permit(resource, self.wait).await;
        permit.map_err(|obstacle| Refusal::closed(obstacle.message(resource.qualified())))
    }

    /// The refusal of a write to what has no legal name: it is pending for ever, since nobody can report it.
    fn unreportable(&self, resource: &str) -> Refusal {
        let proved = self.gate.book().proved_epoch(self.gate.now());
        let obstacle = proved.err().unwrap_or(super::Obstacle::NotReported(None));
        Refusal::closed(obstacle.message(resource))
    }
}

impl Refusal {
    fn closed(message: String) -> Self {
        Self {
            code: StatusCode::SERVICE_UNAVAILABLE,
            reason: "ServiceUnavailable",
            message,
        }
    }

    fn unreadable() -> Self {
        Self {
            code: StatusCode::INTERNAL_SERVER_ERROR,
            reason: "InternalError",
            message: "no RequestInfo found in the context".to_owned(),
        }
    }

    fn into_response<B: From<String>>(self) -> Response<B> {
        answer::status(self.code, self.reason, &self.message)
    }
}
