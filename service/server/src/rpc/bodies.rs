//! Limits the bytes of all requests in progress together, and the time by which each request must have arrived.
//!
//! A message has a size limit, and so has the number of requests, but the product of both exceeds any machine's memory.
//! A request holds as many bytes as have arrived of it until it is answered. Requests that keep members alive have a
//! share of their own, and so have health and status. Streams are not counted, as they hold few small messages at a time,
//! except for pipelines, whose messages hold bytes until their calls do.

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

/// The shares of bytes, by the class of request.
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

/// The bytes that one request holds, released when the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Held(Arc<Holding>);

#[derive(Debug)]
struct Holding {
    share: Arc<Share>,
    bytes: AtomicUsize,
}

/// A request's body with the limits applied.
pub(super) struct Guarded {
    body: Body,
    framing: Framing,
    /// The most bytes of one message in it.
    message_bytes_max: usize,
    /// The holder of its bytes; `None` for a stream of small requests.
    held: Option<Held>,
    /// The deadline for the whole body; `None` for a stream of requests.
    deadline: Option<Instant>,
    /// The timer of the deadline, set once the body was waited for.
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

    /// Applies the limits to a request's body: the size of each message, the bytes held in all, and the deadline. A
    /// stream of requests has no deadline and holds nothing.
    pub(super) fn guarded(
        &self,
        method: Method,
        deadline: Instant,
        body: Body,
    ) -> (Guarded, Option<Held>) {
        let held = self.held(method.class);
        let guarded = Guarded {
            body,
            framing: Framing::default(),
            message_bytes_max: method.message_bytes_max(),
            held: held.clone(),
            deadline: (!method.class.is_stream()
                || matches!(method.class, Class::Watch | Class::Backup))
            .then_some(deadline),
            patience: None,
            refused: false,
        };
        (guarded, held)
    }

    /// Holds a message that has come in another way than as a body of its own.
    ///
    /// # Errors
    ///
    /// `TOO_LARGE` if its method takes no such long message, `OVERLOADED` if too many bytes are held.
    pub(super) fn hold(
        &self,
        class: Class,
        bytes_max: usize,
        bytes: usize,
    ) -> Result<Option<Held>, Refusal> {
        if bytes > bytes_max {
            return Err(too_long(bytes_max));
        }
        let held = self.held(class);
        match &held {
            Some(held) if !held.take(bytes) => Err(full(held.0.share.max)),
            Some(_) | None => Ok(held),
        }
    }

    fn held(&self, class: Class) -> Option<Held> {
        let share = match class {
            Class::Ordinary | Class::Acquire | Class::Watch | Class::Pipeline | Class::Backup => {
                &self.ordinary
            }
            Class::Renewal => &self.renewal,
            Class::Side => &self.side,
            Class::RenewalStream | Class::SideStream => return None,
        };
        Some(Held(Arc::new(Holding {
            share: Arc::clone(share),
            bytes: AtomicUsize::new(0),
        })))
    }
}

impl Held {
    /// Takes more bytes; false if that exceeds the share.
    fn take(&self, bytes: usize) -> bool {
        let Holding { share, bytes: held } = &*self.0;
        let taken = share.taken.fetch_add(bytes, Ordering::AcqRel) + bytes;
        held.fetch_add(bytes, Ordering::AcqRel);
        share.show(taken);
        taken <= share.max
    }

    /// Gives up bytes that were taken before.
    pub(super) fn release(&self, bytes: usize) {
        let Holding { share, bytes: held } = &*self.0;
        held.fetch_sub(bytes, Ordering::AcqRel);
        let before = share.taken.fetch_sub(bytes, Ordering::AcqRel);
        share.show(before - bytes);
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
    /// Checks whether bytes that arrived may be passed on.
    fn check(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if self.framing.pass(bytes) > self.message_bytes_max {
            return Err(too_long(self.message_bytes_max));
        }
        match &self.held {
            Some(held) if !held.take(bytes.len()) => Err(full(held.0.share.max)),
            Some(_) | None => Ok(()),
        }
    }

    /// Resolves when the deadline for the whole body has passed.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<Refusal> {
        let Some(deadline) = self.deadline else {
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
