//! Where a replica is reached.

use std::io;

use crate::config::Listen;
use crate::seams::Incoming;
use crate::seams::tcp;

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
    /// The connections of those who ask for metrics, if they may.
    pub metrics: Option<Incoming>,
    /// Where they come in, as `host:port`.
    pub metrics_address: Option<String>,
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
        let (metrics_address, metrics) = match listen.metrics {
            Some(address) => {
                let listening = tcp::listen(address).await;
                let (address, incoming) = listening.map_err(|error| at(address, &error))?;
                (Some(address.to_string()), Some(incoming))
            }
            None => (None, None),
        };
        Ok(Self {
            client,
            client_address: client_address.to_string(),
            peer,
            peer_address: peer_address.to_string(),
            metrics,
            metrics_address,
        })
    }
}

fn at(address: std::net::SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
}
