//! Metrics of watches.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::gauge_value;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfReason {
    reason: &'static str,
}

/// The metrics of watches.
#[derive(Debug)]
pub(crate) struct WatchMetrics {
    streams: Gauge,
    events: Counter,
    fragments: Counter,
    bookmarks: Counter,
    ended: Family<OfReason, Counter>,
    encoded_revisions: Gauge,
    encoded_bytes: Gauge,
}

impl WatchMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            streams: Gauge::default(),
            events: Counter::default(),
            fragments: Counter::default(),
            bookmarks: Counter::default(),
            ended: Family::default(),
            encoded_revisions: Gauge::default(),
            encoded_bytes: Gauge::default(),
        };
        registry.register(
            "synod_watch_streams",
            "Open watch streams",
            metrics.streams.clone(),
        );
        registry.register(
            "synod_watch_events",
            "Events sent, counted once for each stream",
            metrics.events.clone(),
        );
        registry.register(
            "synod_watch_fragments",
            "Messages that did not hold all events of their revision",
            metrics.fragments.clone(),
        );
        registry.register(
            "synod_watch_bookmarks",
            "Bookmarks sent",
            metrics.bookmarks.clone(),
        );
        registry.register(
            "synod_watch_ended",
            "Streams that this replica ended, by reason",
            metrics.ended.clone(),
        );
        registry.register(
            "synod_watch_encoded_revisions",
            "Revisions whose encoded events are kept",
            metrics.encoded_revisions.clone(),
        );
        registry.register(
            "synod_watch_encoded_bytes",
            "Bytes of encoded events that are kept",
            metrics.encoded_bytes.clone(),
        );
        metrics
    }

    /// The gauge of open streams.
    pub(crate) fn streams(&self) -> &Gauge {
        &self.streams
    }

    /// Counts a message that was sent with this many events.
    pub(crate) fn sent(&self, events: usize, more_fragments: bool) {
        self.events.inc_by(events as u64);
        if more_fragments {
            self.fragments.inc();
        }
    }

    /// Counts a bookmark that was sent.
    pub(crate) fn bookmark(&self) {
        self.bookmarks.inc();
    }

    /// Counts a stream that this replica ended.
    pub(crate) fn ended(&self, reason: &'static str) {
        self.ended.get_or_create(&OfReason { reason }).inc();
    }

    /// Sets the gauges of kept encoded events.
    pub(crate) fn encoded(&self, revisions: usize, bytes: usize) {
        self.encoded_revisions.set(gauge_value(revisions));
        self.encoded_bytes.set(gauge_value(bytes));
    }
}
