//! [`Caller`]: the span of the program in which a call is made, as the replicas are told, and what is noted for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use synod_client::Error;
use synod_client::traces::{CallSpan, Traces, grpc_statuses};

tokio::task_local! {
    /// The span in which what is polled now was asked for, if there is one.
    static CALLER: Option<Caller>;
}

/// The most failed tries of one call that are noted: as many events as spans of OpenTelemetry keep.
const FAILED_TRIES_MAX: usize = 128;

/// What functions of handles ask of replicas, by their names: the requests that their spans are named after. What is not here,
/// such as a wait for what happens in this process, has no span of its own; [`Bound::call`](crate::Bound::call) names its
/// request itself.
pub(crate) const REQUESTS: &[(&str, &str)] = &[
    ("Client.back_up", "synod.v1.Cluster/Backup"),
    ("Client.join", "synod.v1.Membership/Join"),
    ("Client.lock", "synod.v1.Leases/Acquire"),
    ("Client.try_lock", "synod.v1.Leases/Acquire"),
    ("Client.watch", "synod.v1.Watch/Watch"),
    ("Creator.write", "synod.v1.Objects/Create"),
    ("Election.campaign", "synod.v1.Leases/Acquire"),
    ("Election.withdraw", "synod.v1.Leases/WithdrawCandidate"),
    ("Lock.release", "synod.v1.Leases/Release"),
    ("Membership.leave", "synod.v1.Membership/Leave"),
    ("Membership.ready", "synod.v1.Membership/Ready"),
    ("Membership.report", "synod.v1.StorageVersions/Report"),
    (
        "Membership.report_change",
        "synod.v1.StorageVersions/Report",
    ),
    ("Updater.begin", "synod.v1.Objects/Get"),
    ("Updater.failed", "synod.v1.Objects/Get"),
    ("Updater.write", "synod.v1.Objects/Update"),
];

/// The request that a function of a handle is for, such as `Client.try_lock`. `None`: it asks nothing of replicas itself.
#[must_use]
pub fn request_of(function: &str) -> Option<&'static str> {
    let mut rows = REQUESTS.iter();
    rows.find(|(name, _)| *name == function)
        .map(|(_, request)| *request)
}

/// The code of gRPC of a [`kind`](crate::Details::kind).
#[must_use]
pub fn grpc_status_of(kind: &str) -> Option<i32> {
    grpc_statuses().find_map(|(reason, status)| (reason == kind).then_some(status))
}

/// A span of the program that uses the client, by its names in the Trace Context of the W3C. Languages have traces of their
/// own, so no span is made here: the replicas make theirs right below it. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    traceparent: Option<String>,
    tracestate: Option<String>,
    asked: Arc<Mutex<Asked>>,
}

/// What was asked of replicas in a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The number of requests, each over all of its tries.
    pub requests: u64,
    /// The tries that have failed, of which the first ones are noted.
    pub failed: Vec<FailedTry>,
}

impl Asked {
    /// This as a document: `requests`, and `failed`, each with `endpoint`, `code` and `at`, in milliseconds since 1970.
    #[must_use]
    pub fn to_json(&self) -> String {
        let failed = self.failed.iter().map(|failed| {
            let since = failed.at.duration_since(UNIX_EPOCH).unwrap_or_default();
            json!({
                "endpoint": failed.endpoint,
                "code": failed.kind,
                "at": since.as_secs_f64() * 1_000.0,
            })
        });
        json!({ "requests": self.requests, "failed": failed.collect::<Value>() }).to_string()
    }
}

/// A try that has failed. Another one may have followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTry {
    /// Where it was made.
    pub endpoint: String,
    /// Why it failed: a [`kind`](crate::Details::kind).
    pub kind: &'static str,
    /// When that was known.
    pub at: SystemTime,
}

impl Caller {
    /// The span with this `traceparent`, and with what vendors say of it, its `tracestate`. Without the first, replicas are not
    /// told of it.
    #[must_use]
    pub fn new(traceparent: Option<String>, tracestate: Option<String>) -> Self {
        Self {
            traceparent,
            tracestate,
            asked: Arc::default(),
        }
    }

    /// Does a work that waits. The requests that it makes itself name this span to the replicas; what it begins in the
    /// background, such as renewals, does not.
    pub fn of<F: Future>(caller: Option<Self>, work: F) -> impl Future<Output = F::Output> {
        CALLER.scope(caller, work)
    }

    /// As [`Caller::of`], of a work that does not wait.
    pub fn of_sync<T>(caller: Option<Self>, work: impl FnOnce() -> T) -> T {
        CALLER.sync_scope(caller, work)
    }

    /// What was asked of replicas in this span so far.
    #[must_use]
    pub fn asked(&self) -> Asked {
        self.noted().clone()
    }

    /// The span in which this is done.
    pub(crate) fn present() -> Option<Self> {
        CALLER.try_with(Clone::clone).ok().flatten()
    }

    fn noted(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names the spans of callers in the calls of a client.
pub(crate) struct Callers;

impl Traces for Callers {
    fn begin(&self, _method: &str) -> Option<Box<dyn CallSpan>> {
        let caller = Caller::present()?;
        caller.noted().requests += 1;
        Some(Box::new(caller))
    }
}

impl CallSpan for Caller {
    fn traceparent(&self) -> Option<String> {
        self.traceparent.clone()
    }

    fn tracestate(&self) -> Option<String> {
        self.tracestate.clone()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "spans of the program have the time of the system"
    )]
    fn try_failed(&mut self, endpoint: &str, error: &Error) {
        let mut noted = self.noted();
        if noted.failed.len() < FAILED_TRIES_MAX {
            noted.failed.push(FailedTry {
                endpoint: endpoint.to_owned(),
                kind: error.kind().reason(),
                at: SystemTime::now(),
            });
        }
    }

    fn ended(self: Box<Self>, _error: Option<&Error>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Protocol;
    use crate::options::rule;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn caller() -> Caller {
        Caller::new(Some(PARENT.to_owned()), None)
    }

    fn named() -> Option<String> {
        Callers.begin("synod.v1.Objects/Get")?.traceparent()
    }

    // Guarantee: I-04
    #[tokio::test]
    async fn what_a_caller_does_names_its_span_and_what_it_begins_beside_does_not() {
        let own = caller();
        let work = Caller::of(Some(own.clone()), async {
            let beside = tokio::spawn(async { named() });
            (named(), beside.await.expect("it does not panic"))
        });
        assert_eq!(work.await, (Some(PARENT.to_owned()), None));
        assert_eq!(own.asked().requests, 1);
        assert_eq!(named(), None);
        let inner = Caller::of_sync(Some(caller()), || Caller::of_sync(None, named));
        assert_eq!(inner, None, "the call that is made now has no span");
    }

    #[test]
    fn the_first_failed_tries_are_noted() {
        let own = caller();
        let error = Error::invalid(rule("must be given"));
        let mut span = own.clone();
        for number in 0..=FAILED_TRIES_MAX {
            span.try_failed(&format!("replica-{number}:1"), &error);
        }
        let failed = own.asked().failed;
        assert_eq!(failed.len(), FAILED_TRIES_MAX);
        let document: Value = serde_json::from_str(&own.asked().to_json()).expect("a document");
        assert_eq!(document["requests"], 0);
        assert_eq!(document["failed"][127]["endpoint"], "replica-127:1");
        assert!(document["failed"][0]["at"].as_f64() > Some(1_000_000_000_000.0));
        assert_eq!(failed[0].endpoint, "replica-0:1");
        assert_eq!(failed[0].kind, error.kind().reason());
    }

    #[test]
    fn every_request_of_the_table_is_of_the_protocol() {
        let protocol = Protocol::load();
        let methods = protocol
            .services
            .iter()
            .flat_map(|service| &service.methods);
        let known: Vec<&str> = methods.map(|method| &*method.full_name).collect();
        assert!(REQUESTS.is_sorted());
        for (function, request) in REQUESTS {
            assert!(known.contains(request), "{function}: {request}");
            assert_eq!(request_of(function), Some(*request));
        }
        assert_eq!(request_of("Lock.lost"), None);
        let invalid = Error::invalid(rule("must be given")).kind().reason();
        assert_eq!(grpc_status_of(invalid), Some(3));
        assert_eq!(grpc_status_of("NONE"), None);
    }
}
