//! Metrics of the doors: open, refused and cut connections, and unsent bytes of answers.

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

/// The metrics of all doors.
#[derive(Debug)]
pub(crate) struct DoorMetrics {
    open: Family<OfDoor, Gauge>,
    refused: Family<OfDoor, Counter>,
    cut: Family<OfReason, Counter>,
    unsent: Family<OfDoor, Gauge>,
    failed_handshakes: Family<OfDoor, Counter>,
}

impl DoorMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            open: Family::default(),
            refused: Family::default(),
            cut: Family::default(),
            unsent: Family::default(),
            failed_handshakes: Family::default(),
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
        registry.register(
            "synod_failed_handshakes",
            "Connections that ended because both ends did not agree on transport security, as when a certificate is refused",
            metrics.failed_handshakes.clone(),
        );
        for door in Door::ALL {
            // Every series is created at once: a missing one would look like one that was never counted.
            drop(metrics.open(door));
            drop(metrics.unsent(door));
            drop(metrics.refused.get_or_create(&of_door(door)));
            drop(metrics.failed_handshakes.get_or_create(&of_door(door)));
            for why in Why::ALL {
                drop(metrics.cut.get_or_create(&of_reason(door, why)));
            }
        }
        metrics
    }

    /// The gauge of open connections.
    pub(crate) fn open(&self, door: Door) -> Gauge {
        self.open.get_or_create(&of_door(door)).clone()
    }

    /// The gauge of bytes of answers that are held.
    pub(crate) fn unsent(&self, door: Door) -> Gauge {
        self.unsent.get_or_create(&of_door(door)).clone()
    }

    /// Counts a connection that was closed at once.
    pub(crate) fn refused(&self, door: Door) {
        self.refused.get_or_create(&of_door(door)).inc();
    }

    /// Counts a connection whose ends did not agree on transport security.
    pub(crate) fn handshake_failed(&self, door: Door) {
        self.failed_handshakes.get_or_create(&of_door(door)).inc();
    }

    /// Counts a connection that was cut.
    pub(crate) fn cut(&self, door: Door, why: Why) {
        self.cut.get_or_create(&of_reason(door, why)).inc();
    }
}

fn of_door(door: Door) -> OfDoor {
    OfDoor { door: door.name() }
}

fn of_reason(door: Door, why: Why) -> OfReason {
    OfReason {
        door: door.name(),
        reason: why.name(),
    }
}
