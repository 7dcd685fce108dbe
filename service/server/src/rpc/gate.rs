//! What the gate in front of all calls consists of.

use std::sync::Arc;

use synod_model::{ErrorKind, Refusal};
use tokio::time::Instant;
use tonic::body::Body;

use super::admission::Admission;
use super::bodies::Bodies;
use super::handlers::Known;
use super::trace::Names;
use crate::access::Standing;
use crate::connections::Line;
use crate::guards::Guards;
use crate::handle::{Asking, Handle};
use crate::metrics::RpcMetrics;
use crate::seams::{Caller, ConnectionInfo};
use crate::stop::Stop;
use crate::traces::{Span, Traces};

pub(super) type Request = http::Request<Body>;
pub(super) type Response = http::Response<Body>;

/// What all calls share.
pub(super) struct GateParts {
    pub(super) handle: Handle,
    pub(super) guards: Guards,
    pub(super) names: Names,
    pub(super) admission: Admission,
    pub(super) bodies: Bodies,
    pub(super) metrics: Arc<RpcMetrics>,
    pub(super) traces: Traces,
    /// Ends the streams.
    pub(super) stop: Stop,
}

impl GateParts {
    /// Finds out who sends a request, and at which address. From here on the request has no token, but knows who has sent it.
    pub(super) fn met(&self, request: &mut Request) -> (Caller, Arc<str>) {
        let (caller, peer) = caller_of(request);
        let caller = self.guards.access.caller(&caller, request.headers_mut());
        if let Some(info) = request.extensions_mut().get_mut::<ConnectionInfo>() {
            info.caller = caller.clone();
        }
        (caller, peer)
    }

    /// Finds out what the caller of a method may do now.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if nothing proves who calls a method of this protocol.
    pub(super) fn stand(
        &self,
        asking: &mut Asking,
        known: &Known,
        caller: &Caller,
    ) -> Result<(), Refusal> {
        if known.is_open() {
            return Ok(());
        }
        let standing = self.guards.access.standing(caller);
        let standing = standing.inspect_err(|refusal| {
            asking.denied(None, refusal);
            // Only another connection can help.
            if let (ErrorKind::Unavailable, Some(line)) = (refusal.kind, &asking.line) {
                line.expire();
            }
        })?;
        asking.standing = standing;
        Ok(())
    }

    /// The context of a call that begins now, before it is known what its caller may do.
    pub(super) fn asking(
        &self,
        known: &'static Known,
        trace: &Arc<str>,
        line: Option<Arc<Line>>,
        peer: &Arc<str>,
    ) -> Asking {
        Asking {
            deadline: Instant::now(),
            trace: Arc::clone(trace),
            span: Span::default(),
            line,
            standing: Standing::of_anybody(),
            called: known.called(),
            peer: Arc::clone(peer),
            audit: self.guards.audit.clone(),
        }
    }
}

/// Who has sent a request, as far as it is known, and at which address.
pub(super) fn caller_of(request: &Request) -> (Caller, Arc<str>) {
    match request.extensions().get::<ConnectionInfo>() {
        Some(info) => (info.caller.clone(), Arc::clone(&info.remote)),
        None => (Caller::Unasked, Arc::default()),
    }
}
