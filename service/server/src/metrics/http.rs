//! `GET /metrics`, on a port of its own.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::Listener;
use prometheus_client::metrics::gauge::Gauge;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

use super::DoorMetrics;
use crate::limits::{METRICS_CONNECTIONS_MAX, METRICS_SILENCE_MAX};
use crate::stop::Stop;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves what `text` answers until `stop`.
pub(crate) async fn serve(
    listener: TcpListener,
    text: Arc<dyn Fn() -> String + Send + Sync>,
    metrics: Arc<DoorMetrics>,
    stop: Stop,
) {
    let answer = move || async move { ([(CONTENT_TYPE, OPEN_METRICS)], text()) };
    let router = Router::new().route("/metrics", get(answer));
    let door = Door {
        listener,
        room: Arc::new(Semaphore::new(METRICS_CONNECTIONS_MAX)),
        open: metrics.open("metrics"),
    };
    let served =
        axum::serve(door, router).with_graceful_shutdown(async move { stop.requested().await });
    if let Err(error) = served.await {
        tracing::error!(%error, "metrics are no longer served");
    }
}

/// Lets so many connections in at a time; the next one waits.
struct Door {
    listener: TcpListener,
    room: Arc<Semaphore>,
    open: Gauge,
}

/// A connection that has a place, until it ends or says nothing for too long.
struct Placed {
    stream: TcpStream,
    patience: Pin<Box<Sleep>>,
    open: Gauge,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Listener for Door {
    type Io = Placed;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Placed, SocketAddr) {
        // It fails only when the semaphore is closed, which nobody does.
        let permit = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, remote) = Listener::accept(&mut self.listener).await;
        self.open.inc();
        let placed = Placed {
            stream,
            patience: Box::pin(sleep(METRICS_SILENCE_MAX)),
            open: self.open.clone(),
            _permit: permit,
        };
        (placed, remote)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl AsyncRead for Placed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(read) => {
                let silent_until = Instant::now() + METRICS_SILENCE_MAX;
                self.patience.as_mut().reset(silent_until);
                Poll::Ready(read)
            }
            Poll::Pending => {
                std::task::ready!(self.patience.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncWrite for Placed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
