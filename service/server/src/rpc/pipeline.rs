//! The stream of `synod.v1.Pipeline`: many calls in one stream, each answered as soon as it can be.
//!
//! A call goes through the same gate as a call outside of a pipeline: name, deadline, admission, limits of bytes and
//! metrics are its own. One task runs all calls of a stream, so the answers of a batch wake it once and leave together.

mod answers;
mod watches;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::{BoxStream, FuturesUnordered, Stream, StreamExt as _};
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::to_status;
use synod_proto::{codec, v1};
use tokio::time::Instant;
use tonic::Status;

use super::bodies::Held;
use super::calls::{Encoded, HEAD_BYTES};
use super::gate::{GateParts, Request, Response, caller_of};
use super::handlers::Known;
use super::methods::Class;
use super::passing::{Opened, Passing};
use super::streams::{Messages, respond};
use super::timeout::allowed;
use crate::connections::Line;
use crate::handle::Asking;
use crate::limits::{DEADLINE_DEFAULT, PIPELINE_RESPONSE_BYTES_MAX};
use crate::seams::Caller;
use crate::traces::Parent;
use crate::watch::Step;
use answers::Answers;
use watches::{Stepping, WatchGroups};

/// The most messages that are read before answers get their turn.
const STRIDE: usize = 64;

/// Opens a pipeline. `held` has the bytes of its messages that are not read yet.
pub(super) fn opened(
    gate: &Arc<GateParts>,
    asking: &Asking,
    request: Request,
    held: Option<Held>,
) -> Response {
    let stop = gate.stop.clone();
    let origin = caller_of(&request);
    let lasting = asking.standing.lasting();
    // Calls in progress are answered, and watches end by themselves.
    let ended = async move {
        tokio::select! {
            biased;
            () = stop.requested() => {}
            () = lasting.withdrawn() => {}
        }
    };
    let messages = Messages::of(request.into_body());
    respond(Pipeline {
        gate: Arc::clone(gate),
        line: asking.line.clone(),
        origin,
        messages: Some(messages.take_until(ended).boxed()),
        held,
        running: FuturesUnordered::new(),
        unanswered: HashMap::new(),
        watches: WatchGroups::default(),
        answers: Answers::default(),
    })
}

struct Pipeline {
    gate: Arc<GateParts>,
    line: Option<Arc<Line>>,
    /// Who calls, and from which address.
    origin: (Caller, Arc<str>),
    /// What the client sends; `None` once it has ended its side, the replica shuts down, or nothing is granted any more.
    messages: Option<BoxStream<'static, Result<Bytes, Status>>>,
    held: Option<Held>,
    running: FuturesUnordered<Abortable<BoxFuture<'static, Happened>>>,
    /// Calls that run, by their numbers. A watch is one of them until it is open.
    unanswered: HashMap<u64, AbortHandle>,
    watches: WatchGroups,
    answers: Answers,
}

/// What a future of the pipeline has brought about.
enum Happened {
    Answered(u64, Result<Encoded, Status>),
    Opened(u64, Box<Opened>),
    Stepped(Box<Stepping>, Step),
}

impl Stream for Pipeline {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Err(status) = self.read(context) {
            return Poll::Ready(Some(Err(status)));
        }
        let mut is_idle = false;
        while self.answers.len() < PIPELINE_RESPONSE_BYTES_MAX {
            match self.running.poll_next_unpin(context) {
                Poll::Ready(Some(Ok(happened))) => self.happened(happened),
                // It was cancelled, and told so then.
                Poll::Ready(Some(Err(_))) => {}
                Poll::Ready(None) => {
                    is_idle = true;
                    break;
                }
                Poll::Pending => break,
            }
        }
        match self.answers.take() {
            Some(message) => Poll::Ready(Some(Ok(message))),
            None if is_idle && self.messages.is_none() => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

impl Pipeline {
    /// Reads what has come, and starts its calls.
    fn read(&mut self, context: &mut Context<'_>) -> Result<(), Status> {
        for _ in 0..STRIDE {
            let Some(messages) = &mut self.messages else {
                return Ok(());
            };
            match messages.poll_next_unpin(context) {
                Poll::Ready(Some(message)) => self.received(message?)?,
                Poll::Ready(None) => self.messages = None,
                Poll::Pending => return Ok(()),
            }
        }
        context.waker().wake_by_ref();
        Ok(())
    }

    fn received(&mut self, message: Bytes) -> Result<(), Status> {
        if let Some(held) = &self.held {
            held.release(HEAD_BYTES + message.len());
        }
        let request: v1::PipelineOpenRequest = codec::decode(message)?;
        for call in request.calls {
            let number = call.number;
            if self.watches.has(number) {
                return Err(in_use(number));
            }
            match self.unanswered.entry(number) {
                Entry::Occupied(_) => return Err(in_use(number)),
                Entry::Vacant(vacant) => {
                    let (abort, registration) = AbortHandle::new_pair();
                    let running = started(&self.gate, self.line.as_ref(), &self.origin, call);
                    self.running.push(Abortable::new(running, registration));
                    vacant.insert(abort);
                }
            }
        }
        for number in request.cancel {
            let was_there = match self.unanswered.remove(&number) {
                Some(call) => {
                    call.abort();
                    true
                }
                None => self.watches.cancel(number),
            };
            if was_there {
                self.answers.status(number, &cancelled());
            }
        }
        Ok(())
    }

    fn happened(&mut self, happened: Happened) {
        match happened {
            Happened::Answered(number, answer) => {
                self.unanswered.remove(&number);
                match answer {
                    Ok(answer) => self.answers.message(number, answer.message()),
                    Err(status) => self.answers.status(number, &status),
                }
            }
            Happened::Opened(number, opened) => {
                self.unanswered.remove(&number);
                let Opened { cursor, place } = *opened;
                let stepping = self.watches.open(number, cursor, place);
                self.step(stepping);
            }
            Happened::Stepped(stepping, step) => {
                let goes_on = self.watches.stepped(stepping, step, &mut self.answers);
                if let Some(stepping) = goes_on {
                    self.step(stepping);
                }
            }
        }
    }

    /// Waits for the next step of a watch.
    fn step(&mut self, mut stepping: Box<Stepping>) {
        let (abort, registration) = AbortHandle::new_pair();
        self.watches.stepping(&stepping, abort);
        let next: BoxFuture<'static, Happened> = Box::pin(async move {
            let step = stepping.cursor.step().await;
            Happened::Stepped(stepping, step)
        });
        self.running.push(Abortable::new(next, registration));
    }
}

/// The future of a call.
fn started(
    gate: &Arc<GateParts>,
    line: Option<&Arc<Line>>,
    (caller, peer): &(Caller, Arc<str>),
    call: v1::PipelineCall,
) -> BoxFuture<'static, Happened> {
    let began = Instant::now();
    let number = call.number;
    let asked = call.timeout_ms.map_or(DEADLINE_DEFAULT, |ms| {
        allowed(Duration::from_millis(ms.into()))
    });
    let known = Known::of_path(&call.method);
    let trace = gate.names.or_new(&call.request_id);
    let mut asking = gate.asking(known, &trace, line.cloned(), peer);
    asking.deadline = began + asked;
    let parent = Parent {
        traceparent: &call.traceparent,
        tracestate: &call.tracestate,
    };
    asking.span = gate.span_below(known, &trace, caller, parent);
    let passing = Passing::begin(gate, known, asking, caller, call.message, began);
    if known.method.class == Class::Watch {
        return Box::pin(async move {
            match passing.open().await {
                Ok(opened) => Happened::Opened(number, Box::new(opened)),
                Err(status) => Happened::Answered(number, Err(status)),
            }
        });
    }
    Box::pin(async move { Happened::Answered(number, passing.answered().await) })
}

fn cancelled() -> Status {
    Status::cancelled("the client has cancelled the call")
}

fn in_use(number: u64) -> Status {
    let message =
        format!("number {number} is that of another call of this pipeline that is unanswered");
    to_status(Refusal::new(ErrorKind::InvalidArgument, message))
}
