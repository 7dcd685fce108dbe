//! An API server of the demo: a process of its own, with the client of Synod around its writes.
//!
//! What there is of Synod in it is in this file: it joins, reports, says that it is ready, follows the definitions of
//! its resources, and leaves. The gate is one layer around its HTTP handlers, and what they do with a permit is in
//! `handlers`, or for objects that Synod keeps, in `keeper`; both answer by `answers`. What it shows to whoever observes
//! it is in `discovery`.

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
use super::release::{Encodes, Release};
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

/// How long a server that stops waits for the writes that it has begun.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// How often a server looks whether a definition has changed. A real one would watch.
const DEFINITION_PERIOD: Duration = Duration::from_millis(100);

/// Joins, reports and serves until it is asked to end, or another instance takes its place.
///
/// # Errors
///
/// It cannot listen, join or report, or has been replaced.
pub async fn run(args: &ApiServerArgs) -> Result<Exit, Failure> {
    let (id, release) = (&args.id, release(&args.release)?);
    if args.aside {
        return stand_aside(args, release).await;
    }
    let journal = Journal::open(&args.journal).map_err(|error| local(id, error))?;
    let kept = Journal::open(&args.kept_journal).map_err(|error| local(id, error))?;
    let store = StoreClient::new(&args.store);
    // Nobody can connect before there is a gate to serve behind: who connects is answered at once.
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
    // The gate stands before everything is reported: until then the layer refuses writes, and readiness says so.
    let app = handlers::router(server)
        .layer(GateLayer::new(membership.gate()))
        .merge(discovery::router(release, Some(membership.gate())))
        .route_service("/readyz", Readiness::<Body>::new(membership.gate()));
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = axum::serve(listener, app).with_graceful_shutdown(async {
        // An error says that the sender is gone, which is as good a reason to stop.
        let _ = stopped.await;
    });
    let serving = tokio::spawn(serving.into_future());

    let reported = entries(&release, &store)
        .await
        .map_err(|error| local(id, error))?;
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
    // First the gate closes and what was let through lands, then Synod hears of it, then nobody is served any more.
    membership.leave(DRAIN_LIMIT).await?;
    tracing::info!("left");
    drop(stop);
    // Answers that are under way are worth a moment; a client that holds its connection open is not.
    let _ = timeout(DRAIN_LIMIT, serving).await;
    Ok(Exit::Ok)
}

/// Serves what it has to show until it is asked to end. Synod knows nothing of it, and no write reaches the store through
/// it.
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

/// What the server has to report: what its release has compiled in, and where a resource has a definition, what that
/// says now.
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

/// Reports a resource anew whenever its definition has changed: its gate closes, its permits come back, the new entry is
/// reported, and the gate opens. The other resources are written meanwhile.
async fn follow_definitions(
    membership: Arc<Membership>,
    release: Release,
    store: StoreClient,
    mut reported: Vec<ReportEntry>,
) {
    loop {
        sleep(DEFINITION_PERIOD).await;
        // A store that does not answer now is asked again.
        let defined = entries(&release, &store).await.unwrap_or_default();
        for entry in defined {
            if reported.contains(&entry) {
                continue;
            }
            let (resource, version) = (entry.resource.clone(), entry.stance.version().clone());
            match membership.report_change(entry.clone()).await {
                Ok(_) => {
                    tracing::info!(%resource, %version, "stored as its definition says from now on");
                    reported.retain(|known| known.resource != resource);
                    reported.push(entry);
                }
                Err(error) => tracing::warn!(%error, %resource, "will be reported again"),
            }
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
