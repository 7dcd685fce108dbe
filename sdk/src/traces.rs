//! Traces: how the calls of a client show in those of the application.

#[cfg(feature = "opentelemetry")]
mod opentelemetry;

#[cfg(feature = "opentelemetry")]
pub use self::opentelemetry::OpenTelemetry;

use crate::{Error, ErrorKind};

/// The reasons of errors, each with the code of gRPC that it has, which spans show as `rpc.grpc.status_code`.
pub fn grpc_statuses() -> impl Iterator<Item = (&'static str, i32)> {
    let kinds = ErrorKind::ALL.into_iter();
    kinds.map(|kind| (kind.reason(), grpc_status(kind)))
}

fn grpc_status(kind: ErrorKind) -> i32 {
    synod_proto::status::code(kind).into()
}

/// Follows the calls of a client in the traces of the application, see [`ClientBuilder::traces`](crate::ClientBuilder::traces).
/// A call is a request with one answer, over all of its tries. Of a watch each opening of its stream is a call, which ends with the
/// first message: one when it begins, and one for each try to go on elsewhere when a replica is lost. What the stream delivers
/// is not followed.
///
/// With the feature `opentelemetry`, `OpenTelemetry` follows them in traces of that name.
pub trait Traces: Send + Sync + 'static {
    /// Begins to follow a call to this method, such as `synod.v1.Objects/Update`, on the task that makes the call. `None`: it is
    /// not followed.
    fn begin(&self, method: &str) -> Option<Box<dyn CallSpan>>;
}

/// A call that is followed. It is dropped without [`CallSpan::ended`] if the call is given up.
pub trait CallSpan: Send {
    /// The name of the span, below which replicas make theirs: a `traceparent` of the W3C. `None`: they make none for it.
    fn traceparent(&self) -> Option<String>;

    /// What vendors of traces say to each other of the span: a `tracestate` of the W3C. The spans of the replica that is asked
    /// show it. `None`: nothing.
    fn tracestate(&self) -> Option<String> {
        None
    }

    /// A try has failed at this endpoint. Another one may follow.
    fn try_failed(&mut self, endpoint: &str, error: &Error);

    /// The call is answered, or has failed.
    fn ended(self: Box<Self>, error: Option<&Error>);
}
