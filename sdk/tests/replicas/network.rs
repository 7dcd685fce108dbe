//! A network in memory: addresses to listen on, links that can be cut, and links that fall silent.

use std::collections::BTreeMap;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use synod_client::seams as client;
use synod_server::seams as server;
use tokio::io::{DuplexStream, copy, duplex, sink, split};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

/// All addresses, and the state of the links to each.
#[derive(Clone, Default)]
pub(crate) struct Network {
    ports: Arc<Mutex<BTreeMap<String, Port>>>,
}

struct Port {
    accepting: Option<mpsc::Sender<DuplexStream>>,
    weather: watch::Sender<Weather>,
}

/// What a link carries. If its two ends differ, the worse counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weather {
    /// All bytes.
    Fair,
    /// All requests, and no answers.
    Mute,
    /// Nothing, without an error at either end.
    Silent,
    /// Nothing, with an error at both ends. New connections are refused.
    Cut,
}

impl Network {
    /// Listens on an address. An earlier listener there gets no more connections.
    pub(crate) fn listen(&self, address: &str) -> server::Incoming {
        let (sender, receiver) = mpsc::channel(64);
        self.port(address, |port| port.accepting = Some(sender));
        let remote = address.to_owned();
        ReceiverStream::new(receiver)
            .map(move |stream| Ok(server::Connection::new(stream, remote.clone())))
            .boxed()
    }

    /// Stops listening on an address, and cuts all its links.
    pub(crate) fn close(&self, address: &str) {
        self.set(address, Weather::Cut);
        self.port(address, |port| port.accepting = None);
    }

    /// Sets what the links to an address carry, including existing ones.
    pub(crate) fn set(&self, address: &str, weather: Weather) {
        self.port(address, |port| {
            port.weather.send_replace(weather);
        });
    }

    /// The dialer of a replica: its links are also subject to the weather at `from`.
    pub(crate) fn dialer(&self, from: &str) -> Dialer {
        Dialer {
            network: self.clone(),
            from: from.to_owned(),
        }
    }

    fn connect(&self, from: &str, address: &str) -> BoxFuture<'static, io::Result<DuplexStream>> {
        let here = self.port(from, |port| port.weather.subscribe());
        let (there, accepting) = self.port(address, |port| {
            (port.weather.subscribe(), port.accepting.clone())
        });
        let address = address.to_owned();
        async move {
            let now = (*here.borrow()).max(*there.borrow());
            if now == Weather::Silent {
                return pending().await;
            }
            let accepting = accepting.filter(|_| now != Weather::Cut);
            let Some(accepting) = accepting else {
                let kind = io::ErrorKind::ConnectionRefused;
                return Err(io::Error::new(kind, format!("nobody listens on {address}")));
            };
            let (near, near_end) = duplex(64 << 10);
            let (far, far_end) = duplex(64 << 10);
            tokio::spawn(carry(near_end, far_end, here, there));
            let refused = |_| io::Error::from(io::ErrorKind::ConnectionRefused);
            accepting.send(far).await.map_err(refused)?;
            Ok(near)
        }
        .boxed()
    }

    fn port<R>(&self, address: &str, change: impl FnOnce(&mut Port) -> R) -> R {
        let mut ports = self.ports.lock().unwrap();
        let port = ports.entry(address.to_owned()).or_insert_with(|| Port {
            accepting: None,
            weather: watch::Sender::new(Weather::Fair),
        });
        change(port)
    }
}

/// Dials for one replica.
pub(crate) struct Dialer {
    network: Network,
    from: String,
}

/// Carries what the weather at both ends lets through, and ends when it cuts or when one end has gone.
async fn carry(
    near: DuplexStream,
    far: DuplexStream,
    mut here: watch::Receiver<Weather>,
    mut there: watch::Receiver<Weather>,
) {
    let (mut near_read, mut near_write) = split(near);
    let (mut far_read, mut far_write) = split(far);
    loop {
        let weather = (*here.borrow_and_update()).max(*there.borrow_and_update());
        if weather == Weather::Cut {
            return;
        }
        let asked = async {
            match weather {
                Weather::Fair | Weather::Mute => copy(&mut near_read, &mut far_write).await,
                Weather::Silent | Weather::Cut => pending().await,
            }
        };
        let answered = async {
            match weather {
                Weather::Fair => copy(&mut far_read, &mut near_write).await,
                Weather::Mute => copy(&mut far_read, &mut sink()).await,
                Weather::Silent | Weather::Cut => pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = here.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            changed = there.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            _ = asked => return,
            _ = answered => return,
        }
    }
}

impl client::Dial for Network {
    fn dial(&self, address: &str) -> BoxFuture<'static, io::Result<client::Connection>> {
        let connecting = self.connect("clients", address);
        async move { connecting.await.map(client::Connection::new) }.boxed()
    }
}

impl server::Dial for Dialer {
    fn dial(&self, address: String) -> BoxFuture<'static, io::Result<server::Connection>> {
        let connecting = self.network.connect(&self.from, &address);
        async move {
            let stream = connecting.await?;
            Ok(server::Connection::new(stream, address))
        }
        .boxed()
    }
}
