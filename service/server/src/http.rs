//! The port for metrics and probes: `GET /metrics`, `/livez` and `/readyz` over HTTP/1.1.
//!
//! Probes have the form of Kubernetes' API servers: 200 if all checks pass, else 503 with a line for each; `?verbose` shows
//! the lines in any case, and `?exclude=NAME` leaves a check out. `/livez` says that the process answers, and never depends
//! on other replicas: a replica that is restarted because it has no quorum only takes longer to get one.

mod probes;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::connect_info::Connected as ConnectedFrom;
use axum::extract::{ConnectInfo, RawQuery};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::{IncomingStream, Listener};
use futures::StreamExt;
use synod_model::Refusal;
use synod_policy::Right;
use tonic::transport::server::Connected;

use crate::seams::{Caller, Connection, Incoming};
use crate::stop::Stop;
pub(crate) use probes::Probed;
use probes::{Asked, report};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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
        let standing = access.standing(&caller);
        match standing.and_then(|standing| standing.allow_stream(Right::Read)) {
            Ok(()) => ([(CONTENT_TYPE, OPEN_METRICS)], metrics()).into_response(),
            Err(refusal) => forbidden(&refusal),
        }
    };
    let live = |RawQuery(query): RawQuery| async move {
        report("livez", &Asked::parse(query.as_deref()), Vec::new())
    };
    let ready = move |RawQuery(query): RawQuery| async move {
        report("readyz", &Asked::parse(query.as_deref()), probed.checks())
    };
    let router = Router::new()
        .route("/metrics", get(metrics))
        .route("/livez", get(live))
        .route("/readyz", get(ready))
        .into_make_service_with_connect_info::<Origin>();
    let served = axum::serve(LetIn(incoming), router)
        .with_graceful_shutdown(async move { stop.requested().await });
    if let Err(error) = served.await {
        tracing::error!(%error, "metrics and probes are no longer served");
    }
}

fn forbidden(refusal: &Refusal) -> Response {
    let text = format!(
        "metrics are shown to clients that may read: {}\n",
        refusal.message
    );
    (StatusCode::FORBIDDEN, text).into_response()
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
