//! Serves `GET /metrics` on a port of its own.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::Listener;
use futures::StreamExt;
use tonic::transport::server::Connected;

use crate::seams::{Connection, Incoming};
use crate::stop::Stop;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves what `text` returns until `stop`.
pub(crate) async fn serve(
    incoming: Incoming,
    text: Arc<dyn Fn() -> String + Send + Sync>,
    stop: Stop,
) {
    let answer = move || async move { ([(CONTENT_TYPE, OPEN_METRICS)], text()) };
    let router = Router::new().route("/metrics", get(answer));
    let served = axum::serve(LetIn(incoming), router)
        .with_graceful_shutdown(async move { stop.requested().await });
    if let Err(error) = served.await {
        tracing::error!(%error, "metrics are no longer served");
    }
}

/// The admitted connections, as axum takes them.
struct LetIn(Incoming);

impl Listener for LetIn {
    type Io = Connection;
    type Addr = Arc<str>;

    async fn accept(&mut self) -> (Connection, Arc<str>) {
        loop {
            match self.0.next().await {
                Some(Ok(connection)) => {
                    let remote = connection.connect_info().remote;
                    return (connection, remote);
                }
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<Arc<str>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
