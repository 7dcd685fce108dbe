//! Calls are followed through client, replicas, log and apply by traces of OpenTelemetry, if they are exported; and nothing
//! waits for the collector.

pub(crate) mod collector;

use std::str::FromStr as _;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures::future::join_all;
use opentelemetry::trace::{
    FutureExt as _, SpanContext, TraceContextExt as _, TraceFlags, TraceState, Tracer as _,
};
use opentelemetry::{Context, global};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    IdGenerator as _, RandomIdGenerator, Sampler, SdkTracerProvider, Span as SdkSpan, SpanData,
    SpanProcessor,
};
use synod_client::traces::OpenTelemetry;
use synod_client::{
    Client, CollectionChanged, CollectionRules, CreateCollection, GroupResource, Kind, ReadOptions,
    WatchOptions,
};
use tempfile::TempDir;
use tokio::time::Instant;

use crate::certificates::Certificates;
use crate::cluster::{Cluster, IDS};
use crate::security::value;
use crate::waiting::{LIMIT, eventually};
use crate::watched_over::shown_at;
use collector::{Collector, Seen, Trace, hanging};

const CREATE: &str = "synod.v1.Collections/Create";
const SETTINGS: &str = "synod.v1.Cluster/GetSettings";
const WATCH: &str = "synod.v1.Watch/Watch";
const FORWARDED: &str = "synod.peer.v1.Peer/Forward";

/// What a vendor says of the span that the application is within.
const STATE: &str = "vendor=said";

/// The spans of a change by a follower, from the first to the last.
const BY_A_FOLLOWER: [&str; 8] = [
    CREATE,
    "synod.queue",
    "synod.forward",
    FORWARDED,
    "synod.queue",
    "synod.log",
    "synod.apply",
    "synod.catch_up",
];

// Guarantee: I-03
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_by_a_follower_is_one_trace_from_the_client_to_apply() {
    let collector = Collector::start().await;
    // The same two all the time: a busy machine may let replicas wait for longer than the usual timeout.
    let url = collector.url();
    let flags = ["--otlp-endpoint", &url, "--election-timeout", "3s"];
    let cluster = Cluster::start_with(&flags).await;
    let (leader, follower) = (cluster.leader().await, cluster.follower().await);
    let client = traced(&cluster, follower).await;
    let (id, changed) = within_trace(create(&client, "alone")).await;
    let trace = collector.trace(&id, &BY_A_FOLLOWER).await;
    let call = is_linked(&trace, &id, (follower, leader));
    let revision = Some(changed.header.revision.to_string());
    assert_eq!(call.attribute("synod.revision"), revision);
    for (name, expected) in [
        ("service.name", "synod"),
        ("service.namespace", "processes"),
        ("service.instance.id", &follower.to_string()),
        ("service.version", env!("CARGO_PKG_VERSION")),
    ] {
        assert_eq!(call.process(name).as_deref(), Some(expected), "{name}");
    }

    // Calls that overlap go through a pipeline from the second round on.
    for round in 0..4 {
        let calls = (0..16).map(|number| {
            let (client, name) = (client.clone(), format!("r{round}-{number}"));
            async move { within_trace(create(&client, &name)).await.0 }
        });
        for id in join_all(calls).await {
            let trace = collector.trace(&id, &BY_A_FOLLOWER).await;
            is_linked(&trace, &id, (follower, leader));
        }
    }
    let metrics = metrics(&cluster, follower).await;
    let mut started = metrics
        .lines()
        .filter(|line| line.starts_with("grpc_server_started_total{"));
    let opened = started.find(|line| line.contains("synod.v1.Pipeline"));
    assert!(
        opened.is_some_and(|line| !line.ends_with(" 0")),
        "{opened:?}"
    );

    let read = async {
        let read = client.settings(ReadOptions::linearizable()).await;
        read.expect("it is served")
    };
    let (id, _) = within_trace(read).await;
    let trace = collector.trace(&id, &[SETTINGS, "synod.read_index"]).await;
    let call = trace.below(&client_span(&id, SETTINGS), SETTINGS);
    trace.below(&call.id(), "synod.read_index");
    assert_eq!(trace.len(), 2, "{trace:?}");

    let watch = async {
        let watch = client.watch(WatchOptions::default()).await;
        watch.expect("it is served")
    };
    let (id, _watch) = within_trace(watch).await;
    let trace = collector.trace(&id, &[WATCH]).await;
    trace.below(&client_span(&id, WATCH), WATCH);
    cluster.finish().await;
}

// Guarantee: I-03
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_traced_only_where_traces_are_exported_and_their_callers_ask() {
    let collector = Collector::start().await;
    let exporting = Cluster::start_with(&["--otlp-endpoint", &collector.url()]).await;
    let silent = Cluster::start().await;
    let asking = traced(&silent, silent.leader().await).await;
    for number in 0..20 {
        let name = format!("c{number}");
        create(&exporting.client().await, &name).await;
        within_trace(create(&asking, &name)).await;
    }
    // What is exported is exported in order, so nothing else comes behind this.
    let last = traced(&exporting, exporting.leader().await).await;
    let (id, _) = within_trace(create(&last, "last")).await;
    collector.trace(&id, &[CREATE, "synod.apply"]).await;
    let calls = collector.spans();
    let calls = calls.iter().filter(|seen| seen.span.name == CREATE);
    assert_eq!(
        calls.count(),
        2,
        "only the last client asked, at first and at last"
    );
    for id in IDS {
        let metrics = metrics(&silent, id).await;
        for series in ["exported", "dropped"] {
            let series = format!("synod_trace_spans_{series}_total");
            assert_eq!(value(&metrics, &series), 0.0, "{series}");
        }
    }
    silent.finish().await;
    exporting.finish().await;
}

// Guarantee: I-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_hangs_costs_spans_and_nothing_else() {
    const ROUNDS: usize = 100;
    const AT_ONCE: usize = 32;
    let (_listener, url) = hanging();
    let flags = ["--otlp-endpoint", &url, "--trace-sampling-ratio", "1"];
    let mut cluster = Cluster::start_with(&flags).await;
    let leader = cluster.leader().await;
    let client = cluster.client_of(leader).await;
    for round in 0..ROUNDS {
        let writes = (0..AT_ONCE).map(|number| create(&client, format!("r{round}-{number}")));
        join_all(writes).await;
    }
    let dropped = eventually("spans that found no room", async || {
        let metrics = metrics(&cluster, leader).await;
        let dropped = value(&metrics, "synod_trace_spans_dropped_total");
        let exported = value(&metrics, "synod_trace_spans_exported_total");
        let is_so = dropped > 0.0 && exported == 0.0;
        let seen = format!("{dropped} dropped, {exported} exported");
        is_so.then_some(dropped).ok_or(seen)
    })
    .await;
    // Four spans for each of the writes, of which 2,048 wait and 512 are on their way.
    assert!(
        dropped > 4.0 * (ROUNDS * AT_ONCE) as f64 - 4_000.0,
        "{dropped}"
    );
    for id in IDS {
        let asked = Instant::now();
        let status = cluster.terminate(id).await;
        assert!(status.success(), "{status}");
        let took = asked.elapsed();
        assert!(took < LIMIT / 3, "replica {id} took {took:?} to end");
    }
}

// Guarantee: I-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_behind_tls_gets_spans_if_both_ends_trust_each_other() {
    let folder = TempDir::with_prefix_in("collector-", env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.expect("the target folder can be written");
    let certificates = Certificates::make(&folder.path().join("its"));
    let others = Certificates::make(&folder.path().join("others"));
    let free = ([127, 0, 0, 1], 0).into();
    let mut collector = Collector::start_secured(&certificates, &certificates, free).await;
    let (at, url) = (collector.address(), collector.url());
    let file = |name: &str| certificates.file(name).display().to_string();
    let (ca, own, key) = (
        file("server-ca.pem"),
        file("admin.pem"),
        file("admin-key.pem"),
    );
    let cluster = Cluster::start_with(&[
        "--otlp-endpoint",
        &url,
        "--otlp-trusted-ca-file",
        &ca,
        "--otlp-cert-file",
        &own,
        "--otlp-key-file",
        &key,
    ])
    .await;
    let leader = cluster.leader().await;
    let client = traced(&cluster, leader).await;
    let (id, _) = within_trace(create(&client, "first")).await;
    collector.trace(&id, &[CREATE, "synod.apply"]).await;

    // Either the replica does not trust it, or it does not trust the replica, or both: nothing is told to it.
    let dropped = async || {
        let metrics = metrics(&cluster, leader).await;
        value(&metrics, "synod_trace_spans_dropped_total")
    };
    let strangers = [
        (&others, &certificates),
        (&certificates, &others),
        (&others, &others),
    ];
    for (number, (shown, trusted)) in strangers.into_iter().enumerate() {
        drop(collector);
        collector = Collector::start_secured(shown, trusted, at).await;
        let before = dropped().await;
        within_trace(create(&client, format!("lost-{number}"))).await;
        eventually("spans that nobody took", async || {
            let dropped = dropped().await;
            (dropped > before)
                .then_some(())
                .ok_or_else(|| format!("{dropped} are dropped"))
        })
        .await;
        assert_eq!(collector.spans().len(), 0, "stranger {number}");
    }

    // The replicas read what has changed before they connect.
    for name in ["server-ca.pem", "admin.pem", "admin-key.pem"] {
        certificates.write(name, &others.read(name));
    }
    let mut tries = 0;
    eventually("a trace in new hands", async || {
        tries += 1;
        within_trace(create(&client, format!("found-{tries}"))).await;
        let spans = collector.spans();
        let found = spans.iter().any(|seen| seen.span.name == CREATE);
        found.then_some(()).ok_or_else(|| "none yet".to_owned())
    })
    .await;
    cluster.finish().await;
}

/// Checks the spans of a change by a follower, the first of these replicas, which the other one leads. Returns that of the call.
fn is_linked<'a>(trace: &'a Trace, id: &str, (follower, leader): (u64, u64)) -> &'a Seen {
    let call = trace.below(&client_span(id, CREATE), CREATE);
    for (name, expected) in [
        ("rpc.system", "grpc"),
        ("rpc.service", "synod.v1.Collections"),
        ("rpc.method", "Create"),
        ("rpc.grpc.status_code", "0"),
        ("synod.replica_id", &follower.to_string()),
    ] {
        assert_eq!(call.attribute(name).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(call.span.trace_state, STATE);
    let request = call.attribute("synod.request_id");
    assert!(request.is_some_and(|name| !name.is_empty()));
    let at_leader = trace.below(&trace.below(&call.id(), "synod.forward").id(), FORWARDED);
    let replica = at_leader.attribute("synod.replica_id");
    assert_eq!(replica, Some(leader.to_string()));
    for (parent, stages) in [
        (call, &["synod.queue", "synod.forward", "synod.catch_up"]),
        (at_leader, &["synod.queue", "synod.log", "synod.apply"]),
    ] {
        let mut ended = parent.span.start_time_unix_nano;
        for name in stages {
            let stage = &trace.below(&parent.id(), name).span;
            assert!(ended <= stage.start_time_unix_nano, "{name}: {trace:?}");
            assert!(stage.start_time_unix_nano <= stage.end_time_unix_nano);
            ended = stage.end_time_unix_nano;
        }
        assert!(ended <= parent.span.end_time_unix_nano, "{trace:?}");
    }
    assert_eq!(at_leader.span.trace_state, STATE, "the leader is told, too");
    let log = trace.below(&at_leader.id(), "synod.log");
    assert!(log.attribute("synod.log_index").is_some());
    assert_eq!(trace.len(), BY_A_FOLLOWER.len(), "{trace:?}");
    call
}

/// A client of one replica, whose calls are followed.
async fn traced(cluster: &Cluster, id: u64) -> Client {
    // It takes the provider that is set by then.
    application();
    let builder = cluster.builder(vec![cluster.endpoint(id)]);
    let client = builder.traces(OpenTelemetry::new()).connect().await;
    let client = client.expect("it is an address");
    // The session has calls of its own, which are then over.
    let first = client.settings(ReadOptions::linearizable()).await;
    first.expect("it is served");
    create(&client, format!("first-{id}")).await;
    client
}

async fn create(client: &Client, name: impl AsRef<str>) -> CollectionChanged {
    // One group and kind means one resource.
    let group = format!("{}.example.io", name.as_ref());
    let resource = GroupResource::new(&group, "widgets").expect("it is a name");
    let create = CreateCollection {
        resource,
        kind: Kind::parse("Widget").expect("it is a kind"),
        namespaced: false,
        rules: CollectionRules::default(),
    };
    let created = client.collections().create(create).await;
    created.expect("it is new")
}

/// Runs a part of the application within a trace of its own. Returns the id of the trace, too.
async fn within_trace<T>(work: impl Future<Output = T>) -> (String, T) {
    application();
    let state = TraceState::from_str(STATE).expect("it is of the form");
    let ids = RandomIdGenerator::default();
    let (trace, span) = (ids.new_trace_id(), ids.new_span_id());
    let above = SpanContext::new(trace, span, TraceFlags::SAMPLED, true, state);
    let above = Context::new().with_remote_span_context(above);
    let span = global::tracer("application").start_with_context("work", &above);
    let context = Context::new().with_span(span);
    let id = context.span().span_context().trace_id().to_string();
    let done = work.with_context(context).await;
    (id, done)
}

/// The id of the span that the client has made of a call in this trace. It is below that of the application.
fn client_span(trace: &str, method: &str) -> String {
    let spans = application().0.lock().expect("nobody panics with it");
    let of = |span: &&SpanData| span.span_context.trace_id().to_string() == trace;
    let spans: Vec<&SpanData> = spans.iter().filter(of).collect();
    let named = |name: &str| {
        let mut found = spans.iter().filter(|span| span.name == name);
        let first = found.next().unwrap_or_else(|| panic!("no {name}"));
        assert!(found.next().is_none(), "two {name}");
        first
    };
    let (work, call) = (named("work"), named(method));
    assert_eq!(call.parent_span_id, work.span_context.span_id());
    call.span_context.span_id().to_string()
}

/// The spans of the application that these tests are, which have ended.
#[derive(Clone, Debug, Default)]
struct Application(Arc<Mutex<Vec<SpanData>>>);

/// The application, whose provider is that of the whole process.
fn application() -> &'static Application {
    static APPLICATION: OnceLock<Application> = OnceLock::new();
    APPLICATION.get_or_init(|| {
        let application = Application::default();
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::AlwaysOn)
            .with_span_processor(application.clone())
            .build();
        global::set_tracer_provider(provider);
        application
    })
}

impl SpanProcessor for Application {
    fn on_start(&self, _: &mut SdkSpan, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        self.0.lock().expect("nobody panics with it").push(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

async fn metrics(cluster: &Cluster, id: u64) -> String {
    let [_, _, port] = cluster.ports(id);
    shown_at(port).await
}
