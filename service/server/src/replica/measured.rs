//! The metrics of a replica: what feeds them, and how they become a text.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use crate::consensus::Consensus;
use crate::health::Health;
use crate::http::MetricsText;
use crate::metrics::Metrics;
use crate::proposer::Proposer;
use crate::seams::{Seams, SpanCounts};

/// The metrics of a replica, fed with the durations of disk writes and of other background work.
pub(super) fn measured(consensus: &Consensus, seams: &Seams) -> Arc<Metrics> {
    let (log, traces) = (Arc::clone(&seams.log), seams.traces.clone());
    let spans = move || {
        traces
            .as_ref()
            .map_or(SpanCounts::default(), |it| it.counts())
    };
    let metrics = Arc::new(Metrics::of_process(move || log.dropped_lines(), spans));
    let flushed = Arc::clone(&metrics);
    consensus.when_flushed(move |took| flushed.disk.flushed(took));
    let timed = metrics.consensus.clone();
    consensus.when_timed(move |what, took| timed.took(what, took));
    metrics
}

/// Makes the metrics now.
pub(super) fn metrics_text(
    metrics: &Arc<Metrics>,
    consensus: &Consensus,
    proposer: &Proposer,
    health: &Health,
) -> MetricsText {
    let (metrics, consensus, proposer) = (Arc::clone(metrics), consensus.clone(), proposer.clone());
    let health = health.clone();
    // One collection at a time, because two at once would mix their numbers.
    let turn = Mutex::new(());
    Arc::new(move || {
        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        metrics.status.observe(&consensus, health.leader());
        metrics.agreement.observe(Instant::now());
        metrics.disk.observe(&consensus.log_status());
        metrics.proposer.observe(|lane| proposer.waiting(lane));
        metrics.text()
    })
}
