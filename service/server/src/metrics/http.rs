//! `GET /metrics`, on a port of its own.

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::stop::Stop;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves what `text` answers until `stop`.
pub(crate) async fn serve(
    listener: TcpListener,
    text: Arc<dyn Fn() -> String + Send + Sync>,
    stop: Stop,
) {
    let metrics = move || async move { ([(CONTENT_TYPE, OPEN_METRICS)], text()) };
    let router = Router::new().route("/metrics", get(metrics));
    let served =
        axum::serve(listener, router).with_graceful_shutdown(async move { stop.requested().await });
    if let Err(error) = served.await {
        tracing::error!(%error, "metrics are no longer served");
    }
}
