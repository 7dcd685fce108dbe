//! Where a replica is reached.

use std::io;

use crate::config::Listen;
use crate::seams::Incoming;
use crate::seams::tcp::{self, TcpListener};

/// The open doors of a replica. In a simulation somebody else makes them.
pub struct Doors {
    /// The connections of clients.
    pub client: Incoming,
    /// Where they come in, as `host:port`.
    pub client_address: String,
    /// The connections of other replicas.
    pub peer: Incoming,
    /// Where they come in, as `host:port`.
    pub peer_address: String,
    /// Where metrics are asked for, if anywhere.
    pub metrics: Option<TcpListener>,
}

impl Doors {
    /// Listens.
    ///
    /// # Errors
    ///
    /// An address that cannot be listened on, and why.
    pub async fn open(listen: &Listen) -> io::Result<Self> {
        let (client_address, client) = tcp::listen(listen.client)
            .await
            .map_err(|error| at(listen.client, &error))?;
        let (peer_address, peer) = tcp::listen(listen.peer)
            .await
            .map_err(|error| at(listen.peer, &error))?;
        let metrics = match listen.metrics {
            Some(address) => Some(
                TcpListener::bind(address)
                    .await
                    .map_err(|error| at(address, &error))?,
            ),
            None => None,
        };
        Ok(Self {
            client,
            client_address: client_address.to_string(),
            peer,
            peer_address: peer_address.to_string(),
            metrics,
        })
    }
}

fn at(address: std::net::SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
}
