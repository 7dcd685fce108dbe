//! Hostile clients: they speak HTTP/2 frame by frame, read no answers, say nothing, or send frames without end. Each
//! may take a limited number of bytes and connections, and other clients must be served meanwhile.

mod floods;
mod frames;
mod good;
mod handshakes;
pub(crate) mod memory;
mod sinks;
mod slots;
mod unread;
mod vanished;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::cluster::Cluster;

/// Reads the metrics of a replica.
async fn scrape(cluster: &Cluster, replica: u64) -> std::io::Result<String> {
    let [_, _, metrics] = cluster.ports(replica);
    let mut stream = TcpStream::connect(metrics).await?;
    let request = b"GET /metrics HTTP/1.1\r\nhost: synod\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
