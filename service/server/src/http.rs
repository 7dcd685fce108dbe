//! The port for metrics and probes: `GET /metrics`, `/livez` and `/readyz` over HTTP/1.1.
//!
//! Probes have the form of Kubernetes' API servers: 200 if all checks pass, else 503 with a line for each; `?verbose` shows
//! the lines in any case, `?exclude=NAME` leaves a check out, and `/readyz/NAME` is one of them alone. `/livez` says that the process answers, and never depends
//! on other replicas: a replica that is restarted because it has no quorum only takes longer to get one.

mod probes;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::connect_info::Connected as ConnectedFrom;
use axum::extract::{ConnectInfo, Path, RawQuery};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::{IncomingStream, Listener};
use futures::StreamExt;
use synod_model::Refusal;
use synod_policy::Right;
use tonic::transport::server::Connected;

use crate::access::Access;
use crate::seams::{Caller, Connection, Incoming};
use crate::stop::Stop;
pub use probes::Probe;
pub(crate) use probes::Probed;

/// The media type of the metrics.
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Makes the metrics now, as text.
pub(crate) type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// What the port shows.
pub(crate) struct Shown {
    /// The metrics now.
    pub(crate) metrics: MetricsText,
    /// What `/readyz` goes by.
    pub(crate) probed: Probed,
}

/// Serves the port until `stop`.
pub(crate) async fn serve(incoming: Incoming, shown: Shown, stop: Stop) {
    let Shown { metrics, probed } = shown;
    let access = probed.access.clone();
    let metrics = move |ConnectInfo(Origin(caller)): ConnectInfo<Origin>,
                        mut headers: HeaderMap| async move {
        let caller = access.caller(&caller, &mut headers);
        match may_read_metrics(&access, &caller) {
            Ok(()) => ([(CONTENT_TYPE, OPEN_METRICS)], metrics()).into_response(),
            Err(refusal) => {
                (StatusCode::FORBIDDEN, format!("{}\n", refusal.message)).into_response()
            }
        }
    };
    let answer = move |probe: Probe<'_>, query: Option<String>| {
        let answer = probed.answer(probe, query.as_deref());
        answer.ok_or((StatusCode::NOT_FOUND, "there is no such check\n"))
    };
    let live = answer.clone();
    let ready = answer.clone();
    let router = Router::new()
        .route("/metrics", get(metrics))
        .route(
            "/livez",
            get(async move |RawQuery(query): RawQuery| live(Probe::Live, query)),
        )
        .route(
            "/readyz",
            get(async move |RawQuery(query): RawQuery| ready(Probe::Ready(None), query)),
        )
        .route(
            "/readyz/{check}",
            get(
                async move |Path(check): Path<String>, RawQuery(query): RawQuery| {
                    answer(Probe::Ready(Some(&check)), query)
                },
            ),
        )
        .into_make_service_with_connect_info::<Origin>();
    let served = axum::serve(LetIn(incoming), router)
        .with_graceful_shutdown(async move { stop.requested().await });
    if let Err(error) = served.await {
        tracing::error!(%error, "metrics and probes are no longer served");
    }
}

/// Whether a caller may read the metrics.
///
/// # Errors
///
/// `UNAUTHENTICATED`, if nothing proves who it is; `PERMISSION_DENIED`.
pub(crate) fn may_read_metrics(access: &Access, caller: &Caller) -> Result<(), Refusal> {
    let standing = access.standing(caller);
    let allowed = standing.and_then(|standing| standing.allow_stream(Right::Read));
    allowed.map_err(|refusal| {
        let message = format!(
            "metrics are shown to clients that may read: {}",
            refusal.message
        );
        Refusal { message, ..refusal }
    })
}

/// Who asks.
#[derive(Clone)]
struct Origin(Caller);

impl ConnectedFrom<IncomingStream<'_, LetIn>> for Origin {
    fn connect_info(stream: IncomingStream<'_, LetIn>) -> Self {
        Self(stream.remote_addr().clone())
    }
}

/// The admitted connections, as axum takes them.
struct LetIn(Incoming);

impl Listener for LetIn {
    type Io = Connection;
    type Addr = Caller;

    async fn accept(&mut self) -> (Connection, Caller) {
        loop {
            match self.0.next().await {
                Some(Ok(connection)) => {
                    let caller = connection.connect_info().caller;
                    return (connection, caller);
                }
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<Caller> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
