//! What the doors count: who is connected, and who was turned away.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfDoor {
    door: &'static str,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct DoorMetrics {
    open: Family<OfDoor, Gauge>,
    refused: Family<OfDoor, Counter>,
}

impl DoorMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            open: Family::default(),
            refused: Family::default(),
        };
        registry.register(
            "synod_connections",
            "Open connections, by who comes in by them",
            metrics.open.clone(),
        );
        registry.register(
            "synod_connections_refused",
            "Connections that were closed at once because there were too many",
            metrics.refused.clone(),
        );
        for door in ["client", "peer", "metrics"] {
            // A series that was never seen cannot be told from one that is missing.
            drop(metrics.open(door));
            drop(metrics.refused.get_or_create(&OfDoor { door }));
        }
        metrics
    }

    /// How many connections there are.
    pub(crate) fn open(&self, door: &'static str) -> Gauge {
        self.open.get_or_create(&OfDoor { door }).clone()
    }

    /// A connection was closed at once.
    pub(crate) fn refused(&self, door: &'static str) {
        self.refused.get_or_create(&OfDoor { door }).inc();
    }
}
