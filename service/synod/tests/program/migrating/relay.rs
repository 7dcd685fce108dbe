//! A way to a server that can be taken away: what comes at its port is passed on, until it vanishes.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

pub(super) struct Relay {
    at: SocketAddr,
    to: u16,
    passing: JoinHandle<()>,
}

impl Relay {
    /// A port whose connections lead to another port.
    pub(super) async fn to(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let passing = tokio::spawn(pass(listener, to));
        Self { at, to, passing }
    }

    pub(super) fn port(&self) -> u16 {
        self.at.port()
    }

    /// All connections break, and new ones are refused.
    pub(super) fn vanishes(&self) {
        self.passing.abort();
    }

    pub(super) async fn comes_back(&mut self) {
        let listener = TcpListener::bind(self.at).await.unwrap();
        self.passing = tokio::spawn(pass(listener, self.to));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.passing.abort();
    }
}

/// Passes connections on; dropping it breaks them.
async fn pass(listener: TcpListener, to: u16) {
    let mut connections = JoinSet::new();
    loop {
        let (mut from, _) = listener.accept().await.unwrap();
        connections.spawn(async move {
            let mut to = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
            let _ = copy_bidirectional(&mut from, &mut to).await;
        });
    }
}
