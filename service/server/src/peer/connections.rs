//! Incoming connections of other replicas: notes which replica calls over each, and reports when it ends.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;

use crate::connections::Line;
use crate::consensus::{Consensus, ReplicaId};
use crate::seams::{Connection, Incoming};

/// A connection that is reported to [`Consensus::on_connection_lost`] when it ends.
pub(super) struct Watched {
    connection: Connection,
    whose: Whose,
    consensus: Consensus,
}

/// The replica behind a connection: an extension of every request, filled in by the first admitted one.
#[derive(Clone)]
pub(super) struct Whose {
    replica: Arc<OnceLock<ReplicaId>>,
    line: Option<Arc<Line>>,
}

impl Whose {
    pub(super) fn is(&self, replica: ReplicaId) {
        // A process is one replica, so later calls over the connection name the same one.
        let _ = self.replica.set(replica);
        if let Some(line) = &self.line {
            line.introduce();
        }
    }
}

/// The connections of `incoming`, whose ends are reported to `consensus`.
pub(super) fn watched(
    incoming: Incoming,
    consensus: Consensus,
) -> impl Stream<Item = io::Result<Watched>> {
    incoming.map(move |accepted| {
        let connection = accepted?;
        let whose = Whose {
            replica: Arc::default(),
            line: connection.connect_info().line,
        };
        Ok(Watched {
            connection,
            whose,
            consensus: consensus.clone(),
        })
    })
}

impl Drop for Watched {
    /// The server drops a connection when it has ended, whether a call was in progress or not.
    fn drop(&mut self) {
        if let Some(replica) = self.whose.replica.get() {
            self.consensus.on_connection_lost(*replica);
        }
    }
}

impl Connected for Watched {
    type ConnectInfo = Whose;

    fn connect_info(&self) -> Whose {
        self.whose.clone()
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl AsyncWrite for Watched {
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
