//! The doors of a replica: its listening ports.

use std::io;

use crate::config::Listen;
use crate::seams::Incoming;
use crate::seams::tcp;

/// The open doors of a replica. A simulation makes them itself.
pub struct Doors {
    /// The connections of clients.
    pub client: Incoming,
    /// The address of the port for clients, as `host:port`.
    pub client_address: String,
    /// The connections of other replicas.
    pub peer: Incoming,
    /// The address of the port for replicas, as `host:port`.
    pub peer_address: String,
    /// The connections for metrics, if metrics are served.
    pub metrics: Option<Incoming>,
    /// The address of the port for metrics, as `host:port`.
    pub metrics_address: Option<String>,
}

impl Doors {
    /// Listens on the addresses in `listen`.
    ///
    /// # Errors
    ///
    /// When an address cannot be listened on; names the address and the cause.
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
