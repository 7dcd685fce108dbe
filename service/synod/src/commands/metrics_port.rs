//! Serves the metrics of a command that runs for long.

use std::fmt::Write as _;
use std::net::SocketAddr;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::failure::Failure;

/// The form in which metrics are written. In the newer one counters must end in `_total`.
const FORM: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves what this function writes at `/metrics`, for as long as the process runs, and at `/livez` that it does.
///
/// # Errors
///
/// The address cannot be listened at.
pub(super) async fn serve(
    address: SocketAddr,
    text: impl Fn() -> String + Clone + Send + Sync + 'static,
) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let message = format!("metrics cannot be served at {address}: {error}");
        Failure::local(message, "choose another address with --listen-metrics")
    })?;
    let shown = get(move || {
        let text = text.clone();
        async move { ([(CONTENT_TYPE, FORM)], text()) }
    });
    let lives = get(async || "ok\n");
    let app = Router::new()
        .route("/metrics", shown)
        .route("/livez", lives);
    drop(tokio::spawn(axum::serve(listener, app).into_future()));
    Ok(())
}

/// Writes a metric with its samples; each has its labels and its value.
pub(super) fn family(
    to: &mut String,
    (name, kind): (&str, &str),
    help: &str,
    samples: impl Iterator<Item = (String, u64)>,
) {
    let _ = writeln!(to, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for (labels, value) in samples {
        let _ = match labels.is_empty() {
            true => writeln!(to, "{name} {value}"),
            false => writeln!(to, "{name}{{{labels}}} {value}"),
        };
    }
}

/// Labels as they stand before a value.
pub(super) fn labels(pairs: &[(&str, &str)]) -> String {
    let escaped = |value: &str| {
        value
            .replace('\\', r"\\")
            .replace('"', "\\\"")
            .replace('\n', r"\n")
    };
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    pairs.collect::<Vec<_>>().join(",")
}
