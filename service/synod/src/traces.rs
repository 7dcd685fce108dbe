//! The program's traces: the spans of calls go to a collector by OTLP, if one is named.
//!
//! What makes spans never waits. Those that have ended go through a bounded queue to a task that exports them. A span that
//! finds the queue full is dropped and counted, so a collector that hangs costs spans, but never holds up a replica, nor its
//! end.

mod collector;
mod export;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, Span, SpanData, SpanProcessor};
use synod_server::limits::SPANS_WAITING_MAX;
use synod_server::seams::{ProcessTraces, SpanCounts};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::failure::Failure;
pub(crate) use settings::{Ratio, TraceSettings, endpoint};

/// How long the end of the program waits for the spans that were not exported yet.
const LAST_SPANS_MAX: Duration = Duration::from_secs(2);

const ADVICE: &str = "correct --otlp-endpoint or the variables that begin with OTEL_EXPORTER_OTLP_";

/// Traces that are exported.
pub(crate) struct Traces {
    seam: Arc<dyn ProcessTraces>,
    ending: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// Begins exporting traces, with what tells this process from others. `None`: no collector is named. Call this within a tokio
/// runtime; it waits for no collector.
///
/// # Errors
///
/// A setting cannot be used.
pub(crate) fn start(
    settings: &TraceSettings,
    process: Vec<KeyValue>,
) -> Result<Option<Traces>, Failure> {
    let Some(endpoint) = settings.endpoint()? else {
        return Ok(None);
    };
    let resource = settings::resource(process);
    if settings.tls.is_some() && !collector::is_secure(&endpoint) {
        let message = format!(
            "files for a collector behind TLS are named, and {endpoint} is none: its spans would not be encrypted"
        );
        let advice =
            "name an https:// collector, or leave --otlp-trusted-ca-file and what goes with it out";
        return Err(Failure::local(message, advice));
    }
    let exporter = export::exporter(endpoint, settings.tls()?, &resource)?;
    let (spans, queue) = mpsc::channel(SPANS_WAITING_MAX);
    let counts = Arc::new(Counts::default());
    let mut provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_span_processor(Queue {
            spans,
            counts: Arc::clone(&counts),
        });
    // Else the library reads the sampler from the environment.
    if let Some(ratio) = settings.ratio() {
        let sampler = Box::new(Sampler::TraceIdRatioBased(ratio.share()));
        provider = provider.with_sampler(Sampler::ParentBased(sampler));
    }
    let tracer = provider.build().tracer(env!("CARGO_PKG_NAME"));
    let (ending, ended) = oneshot::channel();
    let task = tokio::spawn(export::run(exporter, queue, Arc::clone(&counts), ended));
    let seam = Arc::new(Exported {
        tracer: BoxedTracer::new(Box::new(tracer)),
        counts,
    });
    Ok(Some(Traces { seam, ending, task }))
}

impl Traces {
    /// Where replicas make their spans.
    pub(crate) fn seam(&self) -> Arc<dyn ProcessTraces> {
        Arc::clone(&self.seam)
    }

    /// Exports the last spans, unless that takes too long.
    pub(crate) async fn end(self) {
        let Self { ending, task, .. } = self;
        let stop = task.abort_handle();
        // It has ended only if it has panicked, and the log says so.
        let _ = ending.send(());
        if timeout(LAST_SPANS_MAX, task).await.is_err() {
            tracing::warn!(
                "the last spans of traces are lost: the collector did not take them in time"
            );
            stop.abort();
        }
    }
}

/// What has become of spans.
#[derive(Debug, Default)]
struct Counts {
    exported: AtomicU64,
    dropped: AtomicU64,
}

/// The traces as replicas see them.
struct Exported {
    tracer: BoxedTracer,
    counts: Arc<Counts>,
}

impl ProcessTraces for Exported {
    fn tracer(&self) -> &BoxedTracer {
        &self.tracer
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the library reads the same clock for spans whose times are not given"
    )]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn counts(&self) -> SpanCounts {
        SpanCounts {
            exported: self.counts.exported.load(Ordering::Relaxed),
            dropped: self.counts.dropped.load(Ordering::Relaxed),
        }
    }
}

/// The writing end of the queue of spans that have ended.
#[derive(Debug)]
struct Queue {
    spans: mpsc::Sender<SpanData>,
    counts: Arc<Counts>,
}

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.spans.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}
