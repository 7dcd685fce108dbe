//! Metrics of the layers around the services. The names are those of go-grpc-prometheus, as in etcd.

use std::sync::OnceLock;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use tonic::Code;

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
    /// The series of each method, by its number.
    methods: OnceLock<Vec<MethodSeries>>,
}

/// The series of one method: found once, as looking one up costs more than counting.
#[derive(Debug)]
struct MethodSeries {
    method: OfMethod,
    started: Counter,
    /// Set by the first call that was answered, so that no series is shown that has counted nothing.
    answered: OnceLock<(Counter, Histogram)>,
}

impl RpcMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            started: Family::default(),
            handled: Family::default(),
            handling_seconds: Family::new_with_constructor(seconds),
            in_flight: Family::default(),
            bytes_held: Family::default(),
            methods: OnceLock::new(),
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

    /// Creates the series of all methods, given by service and name in the order of their numbers: a missing one would
    /// look like one that was never counted.
    pub(crate) fn declare(&self, methods: impl Iterator<Item = (&'static str, &'static str)>) {
        let series = |(grpc_service, grpc_method)| {
            let method = OfMethod {
                grpc_service,
                grpc_method,
            };
            MethodSeries {
                started: self.started.get_or_create(&method).clone(),
                answered: OnceLock::new(),
                method,
            }
        };
        self.methods.get_or_init(|| methods.map(series).collect());
    }

    /// Counts a call of a method that began.
    pub(crate) fn started(&self, method: usize) {
        if let Some(series) = self.series(method) {
            series.started.inc();
        }
    }

    /// Counts a call of a method that was answered with this code.
    pub(crate) fn handled(&self, method: usize, code: Code, took: Duration) {
        let Some(series) = self.series(method) else {
            return;
        };
        let of_code = |code| {
            let labels = OfCode {
                grpc_service: series.method.grpc_service,
                grpc_method: series.method.grpc_method,
                grpc_code: code_name(code),
            };
            self.handled.get_or_create(&labels).clone()
        };
        let (answered, seconds) = series.answered.get_or_init(|| {
            let seconds = self.handling_seconds.get_or_create(&series.method);
            (of_code(Code::Ok), seconds.clone())
        });
        if code == Code::Ok {
            answered.inc();
        } else {
            of_code(code).inc();
        }
        seconds.observe(took.as_secs_f64());
    }

    fn series(&self, method: usize) -> Option<&MethodSeries> {
        self.methods.get()?.get(method)
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

/// The name of a code as go-grpc-prometheus spells it.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
