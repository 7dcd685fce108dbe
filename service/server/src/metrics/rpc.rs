//! Metrics of the layers around the services. The names are those of go-grpc-prometheus, as in etcd.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::seconds;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfMethod {
    grpc_service: &'static str,
    grpc_method: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfCode {
    grpc_service: &'static str,
    grpc_method: &'static str,
    grpc_code: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfClass {
    class: &'static str,
}

/// The metrics of calls.
#[derive(Debug)]
pub(crate) struct RpcMetrics {
    started: Family<OfMethod, Counter>,
    handled: Family<OfCode, Counter>,
    handling_seconds: Family<OfMethod, Histogram>,
    in_flight: Family<OfClass, Gauge>,
    bytes_held: Family<OfClass, Gauge>,
}

impl RpcMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            started: Family::default(),
            handled: Family::default(),
            handling_seconds: Family::new_with_constructor(seconds),
            in_flight: Family::default(),
            bytes_held: Family::default(),
        };
        registry.register(
            "grpc_server_started",
            "Calls that clients have begun",
            metrics.started.clone(),
        );
        registry.register(
            "grpc_server_handled",
            "Calls that were answered, by code; of a stream, that it was opened",
            metrics.handled.clone(),
        );
        registry.register(
            "grpc_server_handling_seconds",
            "How long answering a call took; of a stream, opening it",
            metrics.handling_seconds.clone(),
        );
        registry.register(
            "synod_requests_in_flight",
            "Calls under way, by class of admission",
            metrics.in_flight.clone(),
        );
        registry.register(
            "synod_request_bytes_held",
            "Bytes of the requests that are being received or answered, by class of admission",
            metrics.bytes_held.clone(),
        );
        metrics
    }

    /// Creates the series of a method: a missing one would look like one that was never counted.
    pub(crate) fn declare(&self, service: &'static str, method: &'static str) {
        let method = OfMethod {
            grpc_service: service,
            grpc_method: method,
        };
        drop(self.started.get_or_create(&method));
    }

    /// Counts a call that began.
    pub(crate) fn started(&self, service: &'static str, method: &'static str) {
        let method = OfMethod {
            grpc_service: service,
            grpc_method: method,
        };
        self.started.get_or_create(&method).inc();
    }

    /// Counts a call that was answered with this code.
    pub(crate) fn handled(
        &self,
        service: &'static str,
        method: &'static str,
        code: &'static str,
        took: Duration,
    ) {
        let of_code = OfCode {
            grpc_service: service,
            grpc_method: method,
            grpc_code: code,
        };
        self.handled.get_or_create(&of_code).inc();
        let method = OfMethod {
            grpc_service: service,
            grpc_method: method,
        };
        self.handling_seconds
            .get_or_create(&method)
            .observe(took.as_secs_f64());
    }

    /// The gauge of calls in progress in a class.
    pub(crate) fn in_flight(&self, class: &'static str) -> Gauge {
        self.in_flight.get_or_create(&OfClass { class }).clone()
    }

    /// The gauge of bytes of requests held in a class.
    pub(crate) fn bytes_held(&self, class: &'static str) -> Gauge {
        self.bytes_held.get_or_create(&OfClass { class }).clone()
    }
}
