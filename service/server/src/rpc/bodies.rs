//! How many bytes of requests there may be at a time, all of them together, and by when each must have come.
//!
//! A message has its own limit, and so has the number of requests, but one times the other is more than any machine has.
//! A request holds as many bytes as have come of it until it is answered. What keeps members alive has a share of its own,
//! and so have health and status. In a stream of requests no message is large, and few are held at a time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use prometheus_client::metrics::gauge::Gauge;
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::{key, to_status};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::Status;
use tonic::body::Body;

use super::framing::Framing;
use super::methods::{Class, Method};
use crate::limits::{RENEWAL_BYTES_HELD_MAX, REQUEST_BYTES_HELD_MAX, SIDE_BYTES_HELD_MAX};
use crate::metrics::RpcMetrics;

/// The bytes that there are, by who may have them.
#[derive(Debug)]
pub(super) struct Bodies {
    ordinary: Arc<Share>,
    renewal: Arc<Share>,
    side: Arc<Share>,
}

#[derive(Debug)]
struct Share {
    taken: AtomicUsize,
    max: usize,
    shown: Gauge,
}

/// The bytes that one request holds, given back when the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Held(Arc<Holding>);

#[derive(Debug)]
struct Holding {
    share: Arc<Share>,
    bytes: AtomicUsize,
}

/// A body as the service gets to see it.
struct Guarded {
    body: Body,
    framing: Framing,
    /// The longest message that may be in it, in bytes.
    message_bytes_max: usize,
    /// By when it must have come in whole, and what holds its bytes. A stream of requests has neither.
    counted: Option<(Instant, Held)>,
    /// Set once the body has let somebody wait.
    patience: Option<Pin<Box<Sleep>>>,
    refused: bool,
}

impl Bodies {
    pub(super) fn new(metrics: &RpcMetrics) -> Self {
        let share = |class: Class, max| {
            Arc::new(Share {
                taken: AtomicUsize::new(0),
                max,
                shown: metrics.bytes_held(class.name()),
            })
        };
        Self {
            ordinary: share(Class::Ordinary, REQUEST_BYTES_HELD_MAX),
            renewal: share(Class::Renewal, RENEWAL_BYTES_HELD_MAX),
            side: share(Class::Side, SIDE_BYTES_HELD_MAX),
        }
    }

    /// Has what comes in of a request held to its limit, counted, and refused when it does not come in by the deadline. A
    /// stream of requests has no deadline and holds nothing.
    pub(super) fn guard(
        &self,
        method: Method,
        deadline: Instant,
        request: &mut http::Request<Body>,
    ) -> Option<Held> {
        let share = match method.class {
            Class::Ordinary | Class::Acquire | Class::Watch => Some(&self.ordinary),
            Class::Renewal => Some(&self.renewal),
            Class::Side => Some(&self.side),
            Class::RenewalStream | Class::SideStream => None,
        };
        let held = share.map(|share| {
            Held(Arc::new(Holding {
                share: Arc::clone(share),
                bytes: AtomicUsize::new(0),
            }))
        });
        let guarded = Guarded {
            body: std::mem::take(request.body_mut()),
            framing: Framing::default(),
            message_bytes_max: method.message_bytes_max(),
            counted: held.clone().map(|held| (deadline, held)),
            patience: None,
            refused: false,
        };
        *request.body_mut() = Body::new(guarded);
        held
    }
}

impl Held {
    /// Takes more bytes; false if there are none left.
    fn take(&self, bytes: usize) -> bool {
        let Holding { share, bytes: held } = &*self.0;
        let taken = share.taken.fetch_add(bytes, Ordering::AcqRel) + bytes;
        held.fetch_add(bytes, Ordering::AcqRel);
        share.show(taken);
        taken <= share.max
    }
}

impl Share {
    fn show(&self, bytes: usize) {
        self.shown.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        let before = self.share.taken.fetch_sub(bytes, Ordering::AcqRel);
        self.share.show(before - bytes);
    }
}

impl Guarded {
    /// Whether what came in may be passed on.
    fn check(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if self.framing.pass(bytes) > self.message_bytes_max {
            return Err(too_long(self.message_bytes_max));
        }
        match &self.counted {
            Some((_, held)) if !held.take(bytes.len()) => Err(full(held.0.share.max)),
            Some(_) | None => Ok(()),
        }
    }

    /// Resolves when nobody should wait for the rest any longer.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<Refusal> {
        let Some((deadline, _)) = self.counted else {
            return Poll::Pending;
        };
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        patience.as_mut().poll(context).map(|()| not_come_in())
    }
}

impl http_body::Body for Guarded {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.refused {
            return Poll::Ready(None);
        }
        let refusal = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(&[][..], |bytes| bytes);
                match self.check(bytes) {
                    Ok(()) => return Poll::Ready(Some(Ok(frame))),
                    Err(refusal) => refusal,
                }
            }
            Poll::Ready(ended) => return Poll::Ready(ended),
            Poll::Pending => std::task::ready!(self.poll_patience(context)),
        };
        self.refused = true;
        Poll::Ready(Some(Err(to_status(refusal))))
    }

    fn is_end_stream(&self) -> bool {
        self.refused || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn full(max: usize) -> Refusal {
    let message = format!(
        "this replica holds {max} bytes of requests already: try again later, or on another replica"
    );
    Refusal::new(ErrorKind::Overloaded, message)
}

fn not_come_in() -> Refusal {
    let message = "the deadline passed before the request had come in whole; it was not executed and never will be";
    Refusal::new(ErrorKind::DeadlineExceeded, message).with(key::NOT_EXECUTED, true)
}

fn too_long(max: usize) -> Refusal {
    let message = format!("a message to this method may have {max} bytes: send less at a time");
    Refusal::new(ErrorKind::TooLarge, message)
}

#[cfg(test)]
mod tests;
