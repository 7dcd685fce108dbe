//! The readiness handler of a server behind the gate.

use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::marker::PhantomData;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use tower::Service;

use super::{Gate, answer};

/// A readiness handler: answers `200 ok` as soon as the first report of all resources was acknowledged, else `503` with
/// what it waits for. Mount it where the server's `/readyz` is.
///
/// A membership that is lost for a while does not make the server unready: it can still be read from. A membership that
/// has ended does, as when another instance has replaced it.
pub struct Readiness<B> {
    gate: Gate,
    body: PhantomData<fn() -> B>,
}

impl<B> Readiness<B> {
    /// The handler for a gate, whose answers have bodies of type `B`, such as `axum::body::Body`.
    #[must_use]
    pub fn new(gate: Gate) -> Self {
        Self {
            gate,
            body: PhantomData,
        }
    }
}

impl<B> Clone for Readiness<B> {
    fn clone(&self) -> Self {
        Self::new(self.gate.clone())
    }
}

impl<B> fmt::Debug for Readiness<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness")
            .field("gate", &self.gate)
            .finish()
    }
}

impl<R, B: From<String>> Service<Request<R>> for Readiness<B> {
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Ready<Result<Response<B>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<R>) -> Self::Future {
        let response = match self.gate.readiness() {
            Ok(()) => answer::text(StatusCode::OK, "ok"),
            Err(waiting) => answer::text(StatusCode::SERVICE_UNAVAILABLE, &waiting),
        };
        ready(Ok(response))
    }
}
