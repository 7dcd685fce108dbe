//! The task that exports spans, and its connection to the collector.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig as _, WithTonicConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use synod_server::limits::SPANS_EXPORTED_AT_ONCE_MAX;
use synod_tls::ClientTls;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::{ADVICE, Counts, collector};
use crate::failure::Failure;

/// How long spans are gathered for one export.
const GATHERING: Duration = Duration::from_secs(1);

/// The longest time for one export, with all that the library tries again; the library's own is 10 seconds by default.
const EXPORT_MAX: Duration = Duration::from_secs(30);

/// What sends spans to the collector. It connects when there are some.
///
/// # Errors
///
/// The endpoint cannot be used, or the files with which one behind TLS is called.
pub(super) fn exporter(
    endpoint: String,
    tls: Option<ClientTls>,
    resource: &Resource,
) -> Result<SpanExporter, Failure> {
    let mut builder = SpanExporter::builder().with_tonic();
    if collector::is_secure(&endpoint) {
        builder = builder.with_channel(collector::channel(&endpoint, tls)?);
    }
    let built = builder.with_endpoint(endpoint).build();
    let mut exporter = built.map_err(|error: ExporterBuildError| {
        Failure::local(format!("traces cannot be exported: {error}"), ADVICE)
    })?;
    exporter.set_resource(resource);
    Ok(exporter)
}

/// Exports spans until `ended`, and then those that still wait.
pub(super) async fn run(
    exporter: SpanExporter,
    mut queue: mpsc::Receiver<SpanData>,
    counts: Arc<Counts>,
    mut ended: oneshot::Receiver<()>,
) {
    let mut course = Course {
        exporter,
        counts,
        is_failing: false,
    };
    let mut batch = Vec::new();
    loop {
        let more = tokio::select! {
            biased;
            _ = &mut ended, if !queue.is_closed() => {
                queue.close();
                continue;
            }
            more = gathered(&mut queue, &mut batch) => more,
        };
        course.export(std::mem::take(&mut batch)).await;
        if more.is_break() {
            return;
        }
    }
}

/// Gathers spans for a while, or until they are enough. Breaks when no more will come.
async fn gathered(
    queue: &mut mpsc::Receiver<SpanData>,
    batch: &mut Vec<SpanData>,
) -> ControlFlow<()> {
    let enough = async {
        while batch.len() < SPANS_EXPORTED_AT_ONCE_MAX {
            let room = SPANS_EXPORTED_AT_ONCE_MAX - batch.len();
            if queue.recv_many(batch, room).await == 0 {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    };
    let gathered = timeout(GATHERING, enough).await;
    gathered.unwrap_or(ControlFlow::Continue(()))
}

/// The exports so far.
struct Course {
    exporter: SpanExporter,
    counts: Arc<Counts>,
    is_failing: bool,
}

impl Course {
    /// Exports spans, or gives them up.
    async fn export(&mut self, spans: Vec<SpanData>) {
        if spans.is_empty() {
            return;
        }
        let count = spans.len() as u64;
        let why = match timeout(EXPORT_MAX, self.exporter.export(spans)).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("no answer within {EXPORT_MAX:?}")),
        };
        let counter = match &why {
            None => &self.counts.exported,
            Some(_) => &self.counts.dropped,
        };
        counter.fetch_add(count, Ordering::Relaxed);
        let was_failing = std::mem::replace(&mut self.is_failing, why.is_some());
        match why {
            Some(why) if !was_failing => {
                tracing::warn!(
                    why,
                    "spans of traces are lost: the collector does not take them"
                );
            }
            None if was_failing => tracing::info!("the collector takes spans of traces again"),
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn spans_are_gathered_for_a_while_and_the_last_ones_at_once() {
        let (spans, mut queue) = mpsc::channel::<SpanData>(1);
        let mut batch = Vec::new();
        let flow = gathered(&mut queue, &mut batch).await;
        assert!(flow.is_continue() && batch.is_empty());
        drop(spans);
        assert!(gathered(&mut queue, &mut batch).await.is_break());
    }
}
