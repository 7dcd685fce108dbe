//! Forwards a TCP connection, and can hold or break it.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

/// What happens to the bytes of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// They arrive.
    Open,
    /// They are delayed until this ends, as in a network that loses and resends everything.
    Held,
    /// The connection breaks.
    Cut,
}

/// The state of one direction, as the task that forwards its bytes sees it.
pub(crate) type Gate = watch::Receiver<Flow>;

/// Forwards a connection to `target` until either end closes it or it is cut. While `there` is held, a new connection
/// is not made.
pub(crate) async fn relay(inbound: TcpStream, target: SocketAddr, mut there: Gate, back: Gate) {
    let Ok(outbound) = connect(target, &mut there).await else {
        return;
    };
    // Sends small messages without delay.
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (client_read, client_write) = inbound.into_split();
    let (server_read, server_write) = outbound.into_split();
    // When one direction has ended, so has the other: HTTP/2 connections are not half-closed.
    tokio::select! {
        biased;
        _ = carry(client_read, server_write, there) => {}
        _ = carry(server_read, client_write, back) => {}
    }
}

async fn connect(target: SocketAddr, there: &mut Gate) -> io::Result<TcpStream> {
    opened(there).await?;
    TcpStream::connect(target).await
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut gate: Gate) -> io::Result<()> {
    let mut buffer = vec![0; 32 << 10];
    loop {
        let read = tokio::select! {
            biased;
            cut = cut(gate.clone()) => return cut,
            read = from.read(&mut buffer) => read,
        };
        // While the direction is held, neither bytes nor the end of them are forwarded.
        opened(&mut gate).await?;
        match read? {
            0 => return Ok(()),
            count => to.write_all(&buffer[..count]).await?,
        }
    }
}

/// Waits while the direction is held. Fails if it is cut.
async fn opened(gate: &mut Gate) -> io::Result<()> {
    let flow = gate.wait_for(|flow| *flow != Flow::Held).await;
    match flow.map(|flow| *flow) {
        Ok(Flow::Open) => Ok(()),
        Ok(Flow::Held | Flow::Cut) | Err(_) => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

/// Waits until the direction is cut, and then fails.
async fn cut(mut gate: Gate) -> io::Result<()> {
    let _ = gate.wait_for(|flow| *flow == Flow::Cut).await;
    Err(io::ErrorKind::ConnectionAborted.into())
}
