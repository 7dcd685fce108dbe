use std::sync::Mutex;

use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::{SpanId, TracerProvider as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    Sampler, SdkTracerProvider, Span as SdkSpan, SpanData, SpanProcessor,
};

use super::*;
use crate::seams::SpanCounts;

/// Keeps the spans that have ended, in their order.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanProcessor for Kept {
    fn on_start(&self, _: &mut SdkSpan, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        self.0.lock().unwrap().push(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

struct InMemory {
    tracer: BoxedTracer,
}

impl ProcessTraces for InMemory {
    fn tracer(&self) -> &BoxedTracer {
        &self.tracer
    }

    fn now(&self) -> SystemTime {
        opentelemetry::time::now()
    }

    fn counts(&self) -> SpanCounts {
        SpanCounts::default()
    }
}

/// Traces that are kept in memory. Who calls decides whether a call is recorded, else the sampler.
fn kept(otherwise: Sampler) -> (Traces, Kept) {
    let kept = Kept::default();
    let provider = SdkTracerProvider::builder()
        .with_resource(Resource::builder_empty().build())
        .with_sampler(Sampler::ParentBased(Box::new(otherwise)))
        .with_span_processor(kept.clone())
        .build();
    let tracer = BoxedTracer::new(Box::new(provider.tracer("test")));
    let process: Arc<dyn ProcessTraces> = Arc::new(InMemory { tracer });
    (Traces::new(Some(&process)), kept)
}

fn served(traces: &Traces, caller: Option<&str>) -> Span {
    let caller = Parent {
        traceparent: caller.unwrap_or_default(),
        tracestate: "vendor=said",
    };
    traces.served("call", caller, ReplicaId::new(1), Vec::new())
}

#[tokio::test]
async fn a_request_is_at_one_stage_at_a_time_and_each_is_below_its_call() {
    let (traces, kept) = kept(Sampler::AlwaysOn);
    let call = served(&traces, None);
    let mut stages = Stages::of(&call);
    stages.enter(LOG);
    let began = Instant::now();
    stages.applied(7, Some(began));
    drop(stages);
    call.end();
    let spans = kept.0.lock().unwrap();
    let names: Vec<&str> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, [QUEUE, LOG, APPLY, "call"]);
    let [queue, log, apply, call] = &spans[..] else {
        panic!("there are four");
    };
    assert_eq!(call.parent_span_id, SpanId::INVALID);
    for stage in [queue, log, apply] {
        assert_eq!(stage.parent_span_id, call.span_context.span_id());
    }
    assert!(queue.end_time <= log.start_time);
    assert_eq!(log.end_time, apply.start_time);
    assert!(
        log.attributes
            .contains(&KeyValue::new("synod.log_index", 7_i64))
    );
}

#[test]
fn what_vendors_say_of_the_caller_is_shown_by_the_call_and_its_parts() {
    let (traces, kept) = kept(Sampler::AlwaysOff);
    let sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let call = served(&traces, Some(sampled));
    call.part(READ_INDEX).end();
    call.end();
    let spans = kept.0.lock().unwrap();
    let said = spans
        .iter()
        .map(|span| span.span_context.trace_state().header());
    assert_eq!(said.collect::<Vec<_>>(), ["vendor=said", "vendor=said"]);
}

#[tokio::test]
async fn a_leader_makes_spans_of_those_commands_that_have_some_at_the_follower() {
    let (follower, _) = kept(Sampler::AlwaysOn);
    // Without a `traceparent`, a `tracestate` says nothing.
    let sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut stages = Stages::of(&served(&follower, Some(sampled)));
    stages.enter(FORWARD);
    let named = stages.name();
    let callers = [String::new(), named.traceparent, "nonsense".to_owned()];
    let states = [String::new(), named.tracestate, String::new()];
    let (leader, kept) = kept(Sampler::AlwaysOff);
    let forwarded = leader.forwarded((&callers, &states), 3, ReplicaId::new(2));
    assert_eq!(forwarded.len(), 1, "who has no span is not asked for one");
    drop(forwarded);
    let none = leader.forwarded((&callers, &states), 2, ReplicaId::new(2));
    assert!(none.is_empty(), "they belong to other commands");
    let spans = kept.0.lock().unwrap();
    let [queue, call] = &spans[..] else {
        panic!("there are two: {spans:?}");
    };
    assert_eq!((&*queue.name, &*call.name), (QUEUE, FORWARDED));
    let above = call.parent_span_id.to_string();
    assert!(stages.name().traceparent.contains(&above) && call.parent_span_is_remote);
    for span in [queue, call] {
        let said = span.span_context.trace_state().header();
        assert_eq!(said, "vendor=said");
    }
}

#[test]
fn a_call_that_is_not_recorded_has_no_parts_and_no_name() {
    let (traces, kept) = kept(Sampler::AlwaysOff);
    let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    for caller in [None, Some(unsampled), Some("nonsense")] {
        let call = served(&traces, caller);
        assert!(!call.is_recorded() && !call.part(READ_INDEX).is_recorded());
        let stages = Stages::of(&call);
        assert!(!stages.are_recorded() && stages.name() == SpanName::default());
    }
    let none = served(&Traces::default(), Some(&unsampled.replace("-00", "-01")));
    assert!(!none.is_recorded());
    assert!(kept.0.lock().unwrap().is_empty());
}
