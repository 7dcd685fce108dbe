//! The network seam over TCP.

use std::io;
use std::net::SocketAddr;

use futures::StreamExt;
use futures::future::BoxFuture;
use socket2::TcpKeepalive;
use tokio::net::TcpStream;

use super::{Connection, Dial, Incoming};
use crate::limits::{ACCEPT_PAUSE, PROBE_INTERVAL, SILENCE_UNASKED_MAX, UNACKNOWLEDGED_MAX};

/// The listener that [`incoming`] takes.
pub use tokio::net::TcpListener;

/// Connects over TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpDialer;

impl Dial for TcpDialer {
    fn dial(&self, address: String) -> BoxFuture<'static, io::Result<Connection>> {
        Box::pin(async move { connection(TcpStream::connect(&address).await?, address) })
    }
}

/// Listens on `address`. Returns the bound address, which matters for port 0, and the accepted connections.
///
/// # Errors
///
/// When the address cannot be bound.
pub async fn listen(address: SocketAddr) -> io::Result<(SocketAddr, Incoming)> {
    let listener = TcpListener::bind(address).await?;
    let local = listener.local_addr()?;
    Ok((local, incoming(listener)))
}

/// The connections that `listener` accepts. Never ends: after a failed accept it pauses and goes on.
#[must_use]
pub fn incoming(listener: TcpListener) -> Incoming {
    futures::stream::unfold(listener, |listener| async move {
        loop {
            match listener.accept().await {
                Ok((stream, remote)) => match connection(stream, remote.to_string()) {
                    Ok(connection) => return Some((Ok(connection), listener)),
                    Err(error) => tracing::debug!(%remote, %error, "the connection was gone before it was served"),
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    })
    .boxed()
}

fn connection(stream: TcpStream, remote: String) -> io::Result<Connection> {
    // Small messages must not wait for one another: a network hop is most of a write's latency.
    stream.set_nodelay(true)?;
    // While bytes wait for the other end to take them, HTTP/2 cannot ping it: the system must notice a dead peer.
    let socket = socket2::SockRef::from(&stream);
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX))?;
    // While nothing is sent, HTTP/1.1 does not ping at all: the system must ask whether the other end is still there.
    let alive = TcpKeepalive::new()
        .with_time(SILENCE_UNASKED_MAX)
        .with_interval(PROBE_INTERVAL);
    socket.set_tcp_keepalive(&alive)?;
    Ok(Connection::new(stream, remote))
}
