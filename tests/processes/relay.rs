//! A connection that is passed on, and can be held: the network, as far as TCP sees it.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

/// What becomes of the bytes of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// They arrive.
    Open,
    /// They are under way for as long as this lasts, as in a network that loses all and sends again.
    Held,
    /// The connection breaks.
    Cut,
}

/// One direction, as those see it who pass its bytes on.
pub(crate) type Gate = watch::Receiver<Flow>;

/// Passes a connection on to `target` until either end closes it or it is cut. A connection that is held before it was
/// made is not made.
pub(crate) async fn relay(inbound: TcpStream, target: SocketAddr, mut there: Gate, back: Gate) {
    let Ok(outbound) = connect(target, &mut there).await else {
        return;
    };
    // Small messages are not to wait for others.
    let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
    let (client_read, client_write) = inbound.into_split();
    let (server_read, server_write) = outbound.into_split();
    // When one direction has ended the other is over too: nobody half-closes an HTTP/2 connection.
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
        // Neither bytes nor the end of them get through a held network.
        opened(&mut gate).await?;
        match read? {
            0 => return Ok(()),
            count => to.write_all(&buffer[..count]).await?,
        }
    }
}

/// Resolves once bytes flow.
async fn opened(gate: &mut Gate) -> io::Result<()> {
    let flow = gate.wait_for(|flow| *flow != Flow::Held).await;
    match flow.map(|flow| *flow) {
        Ok(Flow::Open) => Ok(()),
        Ok(Flow::Held | Flow::Cut) | Err(_) => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}

/// Resolves once the connection is to break.
async fn cut(mut gate: Gate) -> io::Result<()> {
    let _ = gate.wait_for(|flow| *flow == Flow::Cut).await;
    Err(io::ErrorKind::ConnectionAborted.into())
}
