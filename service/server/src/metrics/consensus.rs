//! How long checkpoints take, and the round-trip times to the other replicas.

use std::time::Duration;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{long_seconds, seconds};
use crate::consensus::{ReplicaId, Timed};

/// The metrics fed by [`Timed`] events.
#[derive(Clone, Debug)]
pub(crate) struct ConsensusMetrics {
    written: Histogram,
    installed: Histogram,
    round_trips: Family<Peer, Histogram>,
}

/// The label for a replica, as etcd names it.
type Peer = [(&'static str, String); 1];

impl ConsensusMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            written: long_seconds(),
            installed: long_seconds(),
            round_trips: Family::new_with_constructor(seconds),
        };
        registry.register(
            "synod_checkpoint_write_seconds",
            "How long it took to write a checkpoint, while writes went on",
            metrics.written.clone(),
        );
        registry.register(
            "synod_checkpoint_install_seconds",
            "How long it took to take over the checkpoint of a leader, while nothing was applied",
            metrics.installed.clone(),
        );
        registry.register(
            "etcd_network_peer_round_trip_time_seconds",
            "How long another replica took to answer, the way there and back",
            metrics.round_trips.clone(),
        );
        metrics
    }

    /// Records a duration. There are as many series as replicas.
    pub(crate) fn took(&self, what: Timed, duration: Duration) {
        let seconds = duration.as_secs_f64();
        match what {
            Timed::CheckpointWritten => self.written.observe(seconds),
            Timed::CheckpointInstalled => self.installed.observe(seconds),
            Timed::PeerAnswered(replica) => self.round_trip(replica).observe(seconds),
        }
    }

    fn round_trip(&self, replica: ReplicaId) -> Histogram {
        let peer = [("To", replica.to_string())];
        self.round_trips.get_or_create(&peer).clone()
    }
}
