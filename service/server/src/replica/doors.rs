//! The doors of a replica: its listening ports.

use std::io;
use std::net::SocketAddr;

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
    /// The connections of clients of the Kubernetes API, if it is served.
    pub kube: Option<Incoming>,
    /// The address of the port for them, as `host:port`.
    pub kube_address: Option<String>,
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
        let (metrics_address, metrics) = maybe(listen.metrics).await?;
        let (kube_address, kube) = maybe(listen.kube).await?;
        Ok(Self {
            client,
            client_address: client_address.to_string(),
            peer,
            peer_address: peer_address.to_string(),
            metrics,
            metrics_address,
            kube,
            kube_address,
        })
    }
}

/// Listens on an address, if there is one.
async fn maybe(listen: Option<SocketAddr>) -> io::Result<(Option<String>, Option<Incoming>)> {
    let Some(address) = listen else {
        return Ok((None, None));
    };
    let listening = tcp::listen(address).await;
    let (address, incoming) = listening.map_err(|error| at(address, &error))?;
    Ok((Some(address.to_string()), Some(incoming)))
}

fn at(address: SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
}
