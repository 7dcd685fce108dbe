//! The network seam: connections as streams of bytes, and how they are opened.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use synod_model::Refusal;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tonic::transport::server::Connected;

use crate::access::{Bearer, Certified, Proxy, Remote};
use crate::connections::Line;

/// Opens connections.
pub trait Dial: Send + Sync + 'static {
    /// Connects to `address` (`host:port`). Fails only if the network reports a failure: the caller sets a deadline.
    fn dial(&self, address: String) -> BoxFuture<'static, io::Result<Connection>>;
}

/// Accepted connections. An error ends the server that polls this stream.
pub type Incoming = BoxStream<'static, io::Result<Connection>>;

/// A stream of bytes in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Send + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + 'static> Duplex for T {}

/// One connection over any transport.
pub struct Connection {
    io: Pin<Box<dyn Duplex>>,
    info: ConnectionInfo,
}

/// What a server knows about the connection of a request: an extension of every request.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// The address of the other end, for logs.
    pub remote: Arc<str>,
    /// What is known of who is at the other end.
    pub(crate) caller: Caller,
    /// The connection's record in its door, once it was admitted.
    pub(crate) line: Option<Arc<Line>>,
}

/// What is known of who is at the other end of a connection, or has sent a request over it.
#[derive(Clone, Debug)]
pub enum Caller {
    /// Nobody is asked for a certificate.
    Unasked,
    /// It could have shown a certificate, and showed none.
    Nameless,
    /// It showed a certificate that was signed by a trusted CA.
    Certified(Arc<Certified>),
    /// It showed no certificate, and the request has a token that was taken.
    Bearer(Arc<Bearer>),
    /// It showed a certificate that was signed by a CA of front proxies, and speaks for others.
    Proxy(Arc<Proxy>),
    /// A front proxy tells who has sent the request.
    Remote(Arc<Remote>),
    /// What the request has proves nothing, and why.
    Unproved(Arc<Refusal>),
}

impl Connection {
    /// Wraps a transport; `remote` names the other end for logs.
    #[must_use]
    pub fn new(io: impl Duplex, remote: impl Into<Arc<str>>) -> Self {
        Self {
            io: Box::pin(io),
            info: ConnectionInfo {
                remote: remote.into(),
                caller: Caller::Unasked,
                line: None,
            },
        }
    }

    /// Wraps a transport of which this is known.
    pub(crate) fn known(io: impl Duplex, info: ConnectionInfo) -> Self {
        Self {
            io: Box::pin(io),
            info,
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionInfo;

    fn connect_info(&self) -> ConnectionInfo {
        self.info.clone()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Connection")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.io.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.as_mut().poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
