//! The connections that come in by a door: so many and no more, none that says nothing, and all of them cut when it is
//! time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::future::BoxFuture;
use prometheus_client::metrics::gauge::Gauge;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;

use crate::limits::{CONNECTIONS_MAX, PEER_CONNECTIONS_MAX, PREFACE_MAX};
use crate::metrics::DoorMetrics;
use crate::seams::{Connection, Incoming};
use crate::stop::Stop;

/// What every HTTP/2 connection begins with is so long.
const PREFACE_BYTES: usize = 24;

/// Who comes in by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// Clients.
    Client,
    /// Other replicas.
    Peer,
}

impl Door {
    /// Its name in metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Peer => "peer",
        }
    }

    const fn connections_max(self) -> usize {
        match self {
            Self::Client => CONNECTIONS_MAX,
            Self::Peer => PEER_CONNECTIONS_MAX,
        }
    }
}

/// A connection that is counted, and ends when it is cut.
struct Counted {
    connection: Connection,
    cut: BoxFuture<'static, ()>,
    /// Until it has said that it speaks HTTP/2: how long it may take, and how many bytes of that have come. From then on
    /// it is asked whether it is still there, and this is `None`.
    preface: Option<(Pin<Box<Sleep>>, usize)>,
    open: Gauge,
    _permit: OwnedSemaphorePermit,
}

/// The connections of `incoming` that there is room for; the others are closed at once, so that their clients turn to
/// another replica. All of them end when `cut` is requested.
pub(crate) fn counted(
    door: Door,
    incoming: Incoming,
    metrics: &Arc<DoorMetrics>,
    cut: Option<Stop>,
) -> Incoming {
    let room = Arc::new(Semaphore::new(door.connections_max()));
    let metrics = Arc::clone(metrics);
    let let_in = incoming.filter_map(move |accepted| {
        let counted = match (accepted, Arc::clone(&room).try_acquire_owned()) {
            (Ok(connection), Ok(permit)) => {
                let (open, cut) = (metrics.open(door.name()), cut.clone());
                open.inc();
                let remote = connection.connect_info().remote;
                let counted = Counted {
                    connection,
                    cut: Box::pin(requested(cut)),
                    preface: Some((Box::pin(sleep(PREFACE_MAX)), 0)),
                    open,
                    _permit: permit,
                };
                Some(Ok(Connection::new(counted, remote)))
            }
            (Ok(_), Err(_)) => {
                metrics.refused(door.name());
                tracing::warn!(
                    door = door.name(),
                    max = door.connections_max(),
                    "closed a connection: there are too many"
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
    });
    let_in.boxed()
}

async fn requested(cut: Option<Stop>) {
    match cut {
        Some(cut) => cut.requested().await,
        None => std::future::pending().await,
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.dec();
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
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.connection).poll_read(context, buffer);
        if let Some((patience, heard)) = &mut self.preface {
            *heard += buffer.filled().len() - before;
            if *heard >= PREFACE_BYTES {
                self.preface = None;
            } else if read.is_pending() && patience.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
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
