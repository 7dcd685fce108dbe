//! The network seam over TCP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use tokio::net::TcpStream;

use super::{Connection, Dial, Incoming};
use crate::limits::UNACKNOWLEDGED_MAX;

/// What metrics are served on: the simulator has nobody who would ask for them.
pub use tokio::net::TcpListener;

/// How long to wait before accepting again after the system could not give a connection, which is when it has no file
/// descriptor left. Trying again at once would spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Dials over TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpDialer;

impl Dial for TcpDialer {
    fn dial(&self, address: String) -> BoxFuture<'static, io::Result<Connection>> {
        Box::pin(async move { connection(TcpStream::connect(&address).await?, address) })
    }
}

/// Listens on `address` and answers where exactly (for port 0), and the connections.
///
/// # Errors
///
/// When the address cannot be bound.
pub async fn listen(address: SocketAddr) -> io::Result<(SocketAddr, Incoming)> {
    let listener = TcpListener::bind(address).await?;
    let local = listener.local_addr()?;
    Ok((local, incoming(listener)))
}

/// The connections that `listener` accepts, for ever: a failure to accept one is waited out.
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
    // Small messages must not wait for one another: a hop is most of a write's latency.
    stream.set_nodelay(true)?;
    // HTTP/2 cannot ask whether the other end is still there while it has bytes to take.
    #[cfg(target_os = "linux")]
    socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX))?;
    Ok(Connection::new(stream, remote))
}
