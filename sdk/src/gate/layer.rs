//! The gate as a tower layer in front of an HTTP server.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Request, Response};
use synod_model::GroupResource;
use tower::{Layer, Service};

use super::{Admission, Gate, RequestInfo};

/// A [`tower::Layer`] that lets a write through to a Kubernetes-like API server only if the [`Gate`] allows it.
///
/// A request that writes is given a [`Permit`](crate::Permit) in its extensions, which says in which version to encode
/// and must be used as its documentation says. The extensions also hold the [`RequestInfo`] that was parsed from the
/// request, unless the server has put its own there before. A write that the gate does not let through is answered with
/// `503` and a `Status` whose message is that of Kubernetes' storage version filter.
///
/// These pass without a permit: requests that are not about a resource, `get`, `list` and `watch`, StorageVersions, and
/// resources that are not stored. Namespaces and leases are not exempt: Synod keeps no membership in them.
#[derive(Clone, Debug)]
pub struct GateLayer {
    door: Option<Arc<Admission>>,
}

impl GateLayer {
    /// The layer for a gate. A write that finds the gate closed is refused at once; see [`GateLayer::wait`].
    #[must_use]
    pub fn new(gate: Gate) -> Self {
        Self {
            door: Some(Arc::new(Admission::new(gate))),
        }
    }

    /// A layer that lets everything through, for servers that are not part of a cluster.
    #[must_use]
    pub fn absent() -> Self {
        Self { door: None }
    }

    /// How long a write may wait for the gate to open before it is refused.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        self.with(|door| door.wait(wait))
    }

    /// Further resources that the server answers without storing them, so that they are never reported. Those of
    /// Kubernetes, such as `tokenreviews.authentication.k8s.io`, are known.
    #[must_use]
    pub fn not_stored(self, resources: Vec<GroupResource>) -> Self {
        self.with(|door| door.not_stored(resources))
    }

    fn with(self, change: impl FnOnce(Admission) -> Admission) -> Self {
        let changed = |door| Arc::new(change(Arc::unwrap_or_clone(door)));
        Self {
            door: self.door.map(changed),
        }
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
    door: Option<Arc<Admission>>,
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
        // The service that was polled ready takes this call; its clone takes its place.
        let fresh = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, fresh);
        Box::pin(async move {
            if request.extensions().get::<RequestInfo>().is_none()
                && let Some(info) = RequestInfo::parse(request.method(), request.uri())
            {
                request.extensions_mut().insert(info);
            }
            match door.admit(request.extensions().get::<RequestInfo>()).await {
                Ok(permit) => {
                    if let Some(permit) = permit {
                        request.extensions_mut().insert(permit);
                    }
                    inner.call(request).await
                }
                Err(refused) => Ok(refused.into_response()),
            }
        })
    }
}
