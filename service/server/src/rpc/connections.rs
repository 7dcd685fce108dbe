//! The connections of clients: so many and no more, and all of them cut when it is time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use prometheus_client::metrics::gauge::Gauge;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::Connected;

use crate::limits::CONNECTIONS_MAX;
use crate::metrics::RpcMetrics;
use crate::seams::{Connection, ConnectionInfo, Incoming};
use crate::stop::Stop;

/// A connection that is counted, and ends when it is cut.
pub(super) struct Counted {
    connection: Connection,
    cut: BoxFuture<'static, ()>,
    open: Gauge,
    _permit: OwnedSemaphorePermit,
}

/// The connections of `incoming` that there is room for; the others are closed at once, so that their clients turn to
/// another replica. All of them end when `cut` is requested.
pub(super) fn counted(
    incoming: Incoming,
    metrics: &Arc<RpcMetrics>,
    cut: Stop,
) -> impl Stream<Item = io::Result<Counted>> + use<> {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let metrics = Arc::clone(metrics);
    incoming.filter_map(move |accepted| {
        let counted = match (accepted, Arc::clone(&room).try_acquire_owned()) {
            (Ok(connection), Ok(permit)) => {
                let (open, cut) = (metrics.connections().clone(), cut.clone());
                open.inc();
                let cut = Box::pin(async move { cut.requested().await });
                Some(Ok(Counted {
                    connection,
                    cut,
                    open,
                    _permit: permit,
                }))
            }
            (Ok(_), Err(_)) => {
                metrics.connection_refused();
                tracing::warn!(
                    max = CONNECTIONS_MAX,
                    "closed a client's connection: there are too many"
                );
                None
            }
            // It concerns one connection, and must not end the server.
            (Err(error), _) => {
                tracing::debug!(%error, "a connection could not be accepted");
                None
            }
        };
        std::future::ready(counted)
    })
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Connected for Counted {
    type ConnectInfo = ConnectionInfo;

    fn connect_info(&self) -> ConnectionInfo {
        self.connection.connect_info()
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Whoever serves a connection always waits to read from it, so this is where it is woken to end.
        if self.cut.as_mut().poll(context).is_ready() {
            self.cut = Box::pin(std::future::ready(()));
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }
}
