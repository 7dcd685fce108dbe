//! What the doors count: who is connected, who was turned away or cut, and what waits to be taken.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::connections::{Door, Why};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfDoor {
    door: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfReason {
    door: &'static str,
    reason: &'static str,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct DoorMetrics {
    open: Family<OfDoor, Gauge>,
    refused: Family<OfDoor, Counter>,
    cut: Family<OfReason, Counter>,
    unsent: Family<OfDoor, Gauge>,
}

impl DoorMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            open: Family::default(),
            refused: Family::default(),
            cut: Family::default(),
            unsent: Family::default(),
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
        registry.register(
            "synod_connections_cut",
            "Connections that were cut because another one needed their place, or for what they did or did not do",
            metrics.cut.clone(),
        );
        registry.register(
            "synod_answer_bytes_held",
            "Bytes of answers that are held until they are taken",
            metrics.unsent.clone(),
        );
        for door in Door::ALL {
            // A series that was never seen cannot be told from one that is missing.
            drop(metrics.open(door));
            drop(metrics.unsent(door));
            drop(metrics.refused.get_or_create(&OfDoor { door: door.name() }));
            for why in Why::ALL {
                drop(metrics.cut.get_or_create(&of_reason(door, why)));
            }
        }
        metrics
    }

    /// How many connections there are.
    pub(crate) fn open(&self, door: Door) -> Gauge {
        self.open
            .get_or_create(&OfDoor { door: door.name() })
            .clone()
    }

    /// How many bytes of answers are held.
    pub(crate) fn unsent(&self, door: Door) -> Gauge {
        self.unsent
            .get_or_create(&OfDoor { door: door.name() })
            .clone()
    }

    /// A connection was closed at once.
    pub(crate) fn refused(&self, door: Door) {
        self.refused
            .get_or_create(&OfDoor { door: door.name() })
            .inc();
    }

    /// A connection was cut.
    pub(crate) fn cut(&self, door: Door, why: Why) {
        self.cut.get_or_create(&of_reason(door, why)).inc();
    }
}

fn of_reason(door: Door, why: Why) -> OfReason {
    OfReason {
        door: door.name(),
        reason: why.name(),
    }
}
