//! An API server of the demo, a process of its own. It writes objects only as the client of Synod allows.
//!
//! All calls that make the server a member are in this file: it joins, reports, says that it is ready, follows the
//! definitions of its resources, and leaves. The gate is a layer around the HTTP handlers. `handlers` has the handlers
//! for objects in the demo's store, `keeper` those for objects that Synod keeps; both build their answers with
//! `answers`. `discovery` serves the discovery documents, which `synod observe` reads.

mod answers;
mod discovery;
mod handlers;
mod keeper;

use std::future::IntoFuture as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::routing::get;
use clap::Args;
use synod_client::{
    BinaryVersion, Client, Endpoint, GateLayer, JoinOptions, MemberId, Membership, Readiness,
    ReportEntry, Ttl,
};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::journal::Journal;
use super::patience::until;
use super::release::{Encodes, Release};
use super::run::LIMIT;
use super::store::StoreClient;
use keeper::Keeper;
use synod_terminal::exit::Exit;
use synod_terminal::failure::Failure;

/// What the process of an API server is started with.
#[derive(Debug, Args)]
pub struct ApiServerArgs {
    /// The member's id.
    #[arg(long)]
    pub(crate) id: String,
    /// Which release to be.
    #[arg(long)]
    pub(crate) release: String,
    /// Where to serve.
    #[arg(long)]
    pub(crate) listen: String,
    /// Where the store serves.
    #[arg(long)]
    pub(crate) store: String,
    /// Where the replicas serve clients.
    #[arg(long, value_delimiter = ',')]
    pub(crate) endpoints: Vec<String>,
    /// The file to append every write to.
    #[arg(long)]
    pub(crate) journal: PathBuf,
    /// The file to append every step of a write to that Synod keeps.
    #[arg(long)]
    pub(crate) kept_journal: PathBuf,
    /// How long Synod keeps the member after a renewal, in milliseconds.
    #[arg(long)]
    pub(crate) ttl_ms: u64,
    /// The violation: write what the release votes for, selected or not.
    #[arg(long)]
    pub(crate) encode_early: bool,
    /// Take no part: serve, and neither join nor report.
    #[arg(long)]
    pub(crate) aside: bool,
}

/// How long a stopping server waits for the writes that it has begun.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// How often a server checks whether a definition has changed. A real server would watch.
const DEFINITION_PERIOD: Duration = Duration::from_millis(100);

/// Joins, reports and serves until SIGTERM arrives or another instance takes its place.
///
/// # Errors
///
/// The server cannot listen, join or report, or another instance has replaced it.
pub async fn run(args: &ApiServerArgs) -> Result<Exit, Failure> {
    let (id, release) = (&args.id, release(&args.release)?);
    if args.aside {
        return stand_aside(args, release).await;
    }
    let journal = Journal::open(&args.journal).map_err(|error| local(id, error))?;
    let kept = Journal::open(&args.kept_journal).map_err(|error| local(id, error))?;
    let store = StoreClient::new(&args.store);
    // The server listens only once it has joined and has a gate, so every connection is answered at once.
    let client = Client::builder()
        .endpoints(args.endpoints.clone())
        .connect()
        .await?;
    let membership = Arc::new(join(args, &client, &release).await?);
    let listener = TcpListener::bind(&args.listen)
        .await
        .map_err(|error| local(id, error))?;
    let server = handlers::Server {
        id: id.clone(),
        release,
        store: store.clone(),
        keeper: Keeper::new(&client, &release, kept, membership.id(), args.encode_early),
        journal: Arc::new(journal),
        encode_early: args.encode_early,
    };
    // The router starts before everything is reported: until then the gate refuses writes, and /readyz says so.
    let app = handlers::router(server)
        .layer(GateLayer::new(membership.gate()))
        .merge(discovery::router(release, Some(membership.gate())))
        .route_service("/readyz", Readiness::<Body>::new(membership.gate()));
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = axum::serve(listener, app).with_graceful_shutdown(async {
        // An error means that the sender is gone, which is a reason to stop, too.
        let _ = stopped.await;
    });
    let serving = tokio::spawn(serving.into_future());

    let reported = until("what the definitions say", LIMIT, || {
        entries(&release, &store)
    });
    let reported = reported.await.map_err(|late| local(id, late))?;
    membership.report(reported.clone()).await?;
    membership.ready().await?;
    tracing::info!("ready");
    let following = follow_definitions(Arc::clone(&membership), release, store, reported);
    let following = tokio::spawn(following);

    let mut asked_to_end = signal(SignalKind::terminate()).map_err(|error| local(id, error))?;
    tokio::select! {
        biased;
        ended = membership.ended() => {
            return Err(local(id, format!("its membership is over: {ended}")));
        }
        _ = asked_to_end.recv() => {}
    }
    following.abort();
    // First the gate closes and the permitted writes finish, then Synod removes the member, then serving ends.
    membership.leave(DRAIN_LIMIT).await?;
    tracing::info!("left");
    drop(stop);
    // Wait a moment for answers that are under way, but not for clients that hold their connection open.
    let _ = timeout(DRAIN_LIMIT, serving).await;
    Ok(Exit::Ok)
}

/// Serves only the discovery documents and /readyz, until SIGTERM arrives. The server is no member of Synod and writes
/// nothing to the store.
async fn stand_aside(args: &ApiServerArgs, release: Release) -> Result<Exit, Failure> {
    let id = &args.id;
    let mut asked_to_end = signal(SignalKind::terminate()).map_err(|error| local(id, error))?;
    let listener = TcpListener::bind(&args.listen)
        .await
        .map_err(|error| local(id, error))?;
    let app = discovery::router(release, None).route("/readyz", get(|| async { "ok" }));
    tokio::select! {
        biased;
        _ = asked_to_end.recv() => Ok(Exit::Ok),
        served = axum::serve(listener, app).into_future() => {
            served.map_err(|error| local(id, error))?;
            Ok(Exit::Ok)
        }
    }
}

async fn join(
    args: &ApiServerArgs,
    client: &Client,
    release: &Release,
) -> Result<Membership, Failure> {
    let fault =
        |what: &str, error: synod_client::Violation| local(&args.id, format!("{what}: {error}"));
    let options = JoinOptions::new(MemberId::parse(&args.id).map_err(|error| fault("id", error))?)
        .ttl(Ttl::from_millis(args.ttl_ms).map_err(|error| fault("ttl", error))?)
        .version(BinaryVersion::parse(release.version).map_err(|error| fault("release", error))?)
        .endpoint(Endpoint::parse(&args.listen).map_err(|error| fault("listen", error))?);
    Ok(client.join(options).await?)
}

/// The entries that the server reports: what its release has compiled in, or for a resource with a definition, what the
/// definition says now.
async fn entries(release: &Release, store: &StoreClient) -> Result<Vec<ReportEntry>, String> {
    let mut entries = Vec::new();
    for resource in release.resources {
        let defined = match resource.encodes {
            Encodes::Defined(_) => store.definition(&resource.name()).await?,
            Encodes::Fixed(_) | Encodes::Selected(_) => None,
        };
        entries.push(resource.entry(defined.as_deref()));
    }
    Ok(entries)
}

/// Reports the resources again whenever a definition has changed, all in one report, since a server that is behind on two is
/// refused for the other one with each of them alone. The gates of those that have changed close, their permits are returned, the
/// report is sent, and the gates open. Meanwhile the other resources are written.
async fn follow_definitions(
    membership: Arc<Membership>,
    release: Release,
    store: StoreClient,
    mut reported: Vec<ReportEntry>,
) {
    loop {
        sleep(DEFINITION_PERIOD).await;
        // If the store does not answer, the next round asks again.
        let Ok(defined) = entries(&release, &store).await else {
            continue;
        };
        if defined == reported {
            continue;
        }
        match membership.report(defined.clone()).await {
            Ok(_) => {
                for entry in defined.iter().filter(|entry| !reported.contains(entry)) {
                    let (resource, version) = (&entry.resource, entry.stance.version());
                    tracing::info!(%resource, %version, "stored as its definition says from now on");
                }
                reported = defined;
            }
            Err(error) => tracing::warn!(%error, "the definitions will be reported again"),
        }
    }
}

fn release(version: &str) -> Result<Release, Failure> {
    Release::of(version).ok_or_else(|| {
        let message = format!("the demo has no release {version:?}");
        Failure::local(message, "see demo/release.rs")
    })
}

fn local(id: impl std::fmt::Display, error: impl std::fmt::Display) -> Failure {
    Failure::local(format!("{id}: {error}"), "see the logs of this run")
}
