//! What the judge asks of every service.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, Stream};
use hyper_util::rt::TokioIo;
use synod_tls::Connector;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use crate::audience::Audience;

/// What a call came to. An error says what was answered instead.
pub(crate) type Answered<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How long a lease of [`Session::grant`] is held without a renewal: longer than a case takes.
pub(crate) const TTL: Duration = Duration::from_secs(60);

/// Connecting takes no time on loopback.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A set of keys. Watches are of a whole set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Plain,
    Swapped,
    Watched,
}

impl Keys {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Swapped, Self::Watched];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Swapped => "swapped",
            Self::Watched => "watched",
        }
    }

    pub(crate) const fn key(self, number: u64) -> Key {
        Key { keys: self, number }
    }
}

/// One key. Each service writes it in its own way, and as long as the others do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) keys: Keys,
    number: u64,
}

impl Key {
    /// Its name within its set.
    pub(crate) fn name(self) -> String {
        format!("{:010}", self.number)
    }

    /// The name of its set and its own, parted by a slash.
    pub(crate) fn path(self) -> String {
        format!("{}/{:010}", self.keys.name(), self.number)
    }
}

/// Which write decides what a swap compares with: etcd's `mod_revision`, ZooKeeper's data version.
pub(crate) type Version = u64;

/// What a read may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every write that was acknowledged before is seen.
    Linearizable,
    /// The server that is asked answers from what it has.
    Serializable,
}

/// What became of a compare-and-set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Swap {
    Done(Version),
    /// Another one was first; the version is what is there now.
    Lost(Version),
}

/// One client, which has one call under way at a time. What a service has no counterpart of is never asked of it: see
/// `Work::is_known_to`.
pub(crate) trait Session: Send + Sized + 'static {
    type Lease: Send + 'static;

    /// A client on a connection of its own.
    fn open(place: &Place) -> impl Future<Output = Answered<Self>> + Send;

    /// Another client on the same connection.
    fn beside(&self) -> Self;

    fn put(&mut self, key: Key, value: Bytes) -> impl Future<Output = Answered<()>> + Send;

    fn get(&mut self, key: Key, reading: Reading)
    -> impl Future<Output = Answered<Version>> + Send;

    /// Writes if the key is still at the version.
    fn swap(
        &mut self,
        key: Key,
        version: Version,
        value: Bytes,
    ) -> impl Future<Output = Answered<Swap>> + Send;

    /// Takes a new lease.
    fn grant(&mut self) -> impl Future<Output = Answered<Self::Lease>> + Send;

    fn renew(&mut self, lease: &Self::Lease) -> impl Future<Output = Answered<()>> + Send;

    /// Opens this many watches of [`Keys::Watched`], which tell the audience what they see. They end when the set of
    /// their tasks is dropped.
    fn watch(
        &mut self,
        watches: u64,
        audience: Arc<Audience>,
    ) -> impl Future<Output = Answered<JoinSet<()>>> + Send;
}

/// Refuses what a service does not have.
pub(crate) fn lacking<T>(what: &str) -> Answered<T> {
    Err(format!("this service has no {what}").into())
}

/// Where a server is called.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    /// `None`: in the clear.
    pub(crate) tls: Option<Connector>,
}

/// A connection of its own.
pub(crate) async fn dial(place: &Place) -> Answered<Channel> {
    let Place { address, tls } = place.clone();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?;
    let endpoint = endpoint.tcp_nodelay(true).connect_timeout(CONNECT_TIMEOUT);
    let Some(tls) = tls else {
        return Ok(endpoint.connect().await?);
    };
    let connector = service_fn(move |_: Uri| {
        let tls = tls.clone();
        async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let host = address.ip().to_string();
            Ok::<_, std::io::Error>(TokioIo::new(tls.connect(stream, &host).await?))
        }
    });
    Ok(endpoint.connect_with_connector(connector).await?)
}

/// The messages of a queue as a stream, which ends with the last sender.
pub(crate) fn stream_of<T: Send + 'static>(
    queue: mpsc::Receiver<T>,
) -> impl Stream<Item = T> + Send + 'static {
    stream::unfold(queue, async |mut queue| Some((queue.recv().await?, queue)))
}
