//! What the gate in front of all calls consists of.

use std::sync::Arc;

use tonic::body::Body;

use super::admission::Admission;
use super::bodies::Bodies;
use super::trace::Names;
use crate::handle::Handle;
use crate::metrics::RpcMetrics;
use crate::stop::Stop;

pub(super) type Request = http::Request<Body>;
pub(super) type Response = http::Response<Body>;

/// What all calls share.
pub(super) struct GateParts {
    pub(super) handle: Handle,
    pub(super) names: Names,
    pub(super) admission: Admission,
    pub(super) bodies: Bodies,
    pub(super) metrics: Arc<RpcMetrics>,
    /// Ends the streams.
    pub(super) stop: Stop,
}
