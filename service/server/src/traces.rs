//! The spans of OpenTelemetry that a replica makes of calls, if its process exports them.
//!
//! A call has one span on each replica that it passes, and below it one for each stage of its way. Spans stand beside what
//! waits for an answer, never in a command, the log or the state. Without an exporter there are none, and asking for one
//! costs a look at a pointer.
//!
//! | span | what takes its time |
//! |---|---|
//! | `synod.v1.Objects/Update`, for example | the call as a replica serves it; of a watch or a backup, the opening |
//! | [`QUEUE`] | waiting in the lane of the proposer for the entries before |
//! | [`LOG`] | on the leader: the entry goes to its disk and to a quorum, until its apply begins |
//! | [`APPLY`] | on the leader: the entry is applied, and its effects are published |
//! | [`FORWARD`] | on a follower: the batch with the command is on its way to the leader and back |
//! | [`FORWARDED`] | on the leader: the command as it serves it to the follower |
//! | [`CATCH_UP`] | on a follower: it applies what the leader has answered |
//! | [`READ_INDEX`] | a read is proved to miss nothing: a quorum confirms the leader, and its entries are applied here |

mod parent;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use opentelemetry::global::BoxedSpan;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, KeyValue, Value};
use tokio::time::Instant;

pub(crate) use self::parent::Parent;
use crate::consensus::ReplicaId;
use crate::seams::ProcessTraces;

pub(crate) const QUEUE: &str = "synod.queue";
pub(crate) const LOG: &str = "synod.log";
pub(crate) const APPLY: &str = "synod.apply";
pub(crate) const FORWARD: &str = "synod.forward";
pub(crate) const FORWARDED: &str = "synod.peer.v1.Peer/Forward";
pub(crate) const CATCH_UP: &str = "synod.catch_up";
pub(crate) const READ_INDEX: &str = "synod.read_index";

/// Begins the spans of calls, which are none unless the process exports them.
#[derive(Clone, Default)]
pub(crate) struct Traces(Option<Arc<dyn ProcessTraces>>);

/// The span of a call or of a part of it, or nothing. Clones mean the same span, which ends with the last of them unless it
/// was ended before.
#[derive(Clone, Default)]
pub(crate) struct Span(Option<Arc<Recorded>>);

/// How the span of a request is named to another replica: by the Trace Context of the W3C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpanName {
    /// Its `traceparent`; empty if there is no span.
    pub(crate) traceparent: String,
    /// Its `tracestate`: what vendors say of the trace; empty if they say nothing.
    pub(crate) tracestate: String,
}

/// A span that is recorded.
struct Recorded {
    process: Arc<dyn ProcessTraces>,
    context: SpanContext,
    span: Mutex<BoxedSpan>,
}

/// The stages of a request on its way through the proposer: at each time at most one span below that of the call.
#[derive(Debug, Default)]
pub(crate) struct Stages(Option<Box<Staged>>);

#[derive(Debug)]
struct Staged {
    /// Declared first, so that it ends before the call.
    stage: Span,
    call: Span,
}

impl Traces {
    pub(crate) fn new(process: Option<&Arc<dyn ProcessTraces>>) -> Self {
        Self(process.cloned())
    }

    pub(crate) fn are_made(&self) -> bool {
        self.0.is_some()
    }

    /// The span of a call from outside of this replica, below the span that its caller names. A text that names none counts
    /// as no parent.
    pub(crate) fn served(
        &self,
        name: impl Into<Cow<'static, str>>,
        caller: Parent<'_>,
        replica: ReplicaId,
        mut attributes: Vec<KeyValue>,
    ) -> Span {
        let Some(process) = &self.0 else {
            return Span::default();
        };
        let id = i64::try_from(replica.get()).unwrap_or(i64::MAX);
        attributes.push(KeyValue::new("synod.replica_id", id));
        let builder = SpanBuilder::from_name(name)
            .with_kind(SpanKind::Server)
            .with_attributes(attributes);
        Span::begin(process, builder, parent::read(caller))
    }

    /// The spans of a follower's commands as this leader serves them, below the spans that the follower names: a `traceparent`
    /// for each command, empty where it has no span, and a `tracestate` for each or for none. Returns none if no command has
    /// one.
    pub(crate) fn forwarded(
        &self,
        (callers, states): (&[String], &[String]),
        commands: usize,
        replica: ReplicaId,
    ) -> Vec<Stages> {
        if !self.are_made() || callers.len() != commands {
            return Vec::new();
        }
        let states = if states.len() == commands {
            states
        } else {
            &[]
        };
        let states = states.iter().map(String::as_str);
        let callers = callers.iter().zip(states.chain(std::iter::repeat("")));
        let named = callers.filter(|(caller, _)| !caller.is_empty());
        let stages = named.map(|(traceparent, tracestate)| {
            let attributes = vec![
                KeyValue::new("rpc.system", "grpc"),
                KeyValue::new("rpc.service", "synod.peer.v1.Peer"),
                KeyValue::new("rpc.method", "Forward"),
            ];
            let caller = Parent {
                traceparent,
                tracestate,
            };
            Stages::of(&self.served(FORWARDED, caller, replica, attributes))
        });
        stages.filter(Stages::are_recorded).collect()
    }
}

impl Span {
    /// A span that begins now. It is nothing if it is not to be recorded: then nothing below it is, either.
    fn begin(
        process: &Arc<dyn ProcessTraces>,
        builder: SpanBuilder,
        parent: Option<SpanContext>,
    ) -> Self {
        // Never the context of the thread: a task takes turns on it with others.
        let context = match parent {
            Some(parent) => Context::new().with_remote_span_context(parent),
            None => Context::new(),
        };
        let span = process.tracer().build_with_context(builder, &context);
        if !span.is_recording() {
            return Self::default();
        }
        Self(Some(Arc::new(Recorded {
            process: Arc::clone(process),
            context: span.span_context().clone(),
            span: Mutex::new(span),
        })))
    }

    /// The span of a part, which begins now.
    pub(crate) fn part(&self, name: &'static str) -> Self {
        self.part_since(name, None)
    }

    fn part_since(&self, name: &'static str, since: Option<SystemTime>) -> Self {
        let Some(recorded) = &self.0 else {
            return Self::default();
        };
        let kind = match name {
            FORWARD => SpanKind::Client,
            _ => SpanKind::Internal,
        };
        let mut builder = SpanBuilder::from_name(name).with_kind(kind);
        builder.start_time = since;
        let parent = Some(recorded.context.clone());
        Self::begin(&recorded.process, builder, parent)
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// Notes a fact.
    pub(crate) fn note(&self, name: &'static str, value: impl Into<Value>) {
        if let Some(recorded) = &self.0 {
            recorded.lock().set_attribute(KeyValue::new(name, value));
        }
    }

    /// Notes a number.
    pub(crate) fn count(&self, name: &'static str, number: u64) {
        self.note(name, i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// Marks the span as that of a failure. In which way is told by attributes, never by texts, which may hold values.
    pub(crate) fn fail(&self) {
        if let Some(recorded) = &self.0 {
            recorded.lock().set_status(Status::error(""));
        }
    }

    /// Ends the span now.
    pub(crate) fn end(&self) {
        if let Some(recorded) = &self.0 {
            recorded.lock().end();
        }
    }

    /// How this span is named to another replica.
    fn name(&self) -> Option<SpanName> {
        let recorded = self.0.as_ref()?;
        Some(parent::write(&recorded.context))
    }
}

impl Recorded {
    fn lock(&self) -> MutexGuard<'_, BoxedSpan> {
        self.span.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stages {
    /// The stages of a request of this call, which waits in its lane from now on.
    pub(crate) fn of(call: &Span) -> Self {
        if !call.is_recorded() {
            return Self::default();
        }
        let staged = Staged {
            stage: call.part(QUEUE),
            call: call.clone(),
        };
        Self(Some(Box::new(staged)))
    }

    pub(crate) fn are_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// Ends the present stage, and begins the next one.
    pub(crate) fn enter(&mut self, stage: &'static str) {
        if let Some(staged) = &mut self.0 {
            staged.stage = Span::default();
            staged.stage = staged.call.part(stage);
        }
    }

    /// The number of commands in the batch that the request has become a part of.
    pub(crate) fn batched(&self, commands: usize) {
        if let Some(staged) = &self.0 {
            staged.stage.count("synod.batch_commands", commands as u64);
        }
    }

    /// The entry with the command is applied, at this place of the log; its apply began at `began`.
    pub(crate) fn applied(&mut self, index: u64, began: Option<Instant>) {
        let Some(staged) = &mut self.0 else { return };
        let took = began.map_or(Duration::ZERO, |began| began.elapsed());
        let log = std::mem::take(&mut staged.stage);
        log.count("synod.log_index", index);
        let Some(recorded) = &log.0 else { return };
        let began = recorded.process.now() - took;
        recorded.lock().end_with_timestamp(began);
        // It ends here.
        staged.call.part_since(APPLY, Some(began));
    }

    /// How the present stage is named to the leader; it says nothing if there is no span.
    pub(crate) fn name(&self) -> SpanName {
        let staged = self.0.as_ref();
        staged
            .and_then(|staged| staged.stage.name())
            .unwrap_or_default()
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Span").field(&self.name()).finish()
    }
}

#[cfg(test)]
mod tests;
