//! A road to a replica that can be cut: all connections on it end, and new ones can be made at once.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{Fault, Replica};

pub(crate) struct Road {
    address: SocketAddr,
    /// How often it was cut.
    cuts: watch::Sender<u32>,
    takes: JoinHandle<()>,
}

impl Road {
    pub(crate) async fn to(replica: &Replica) -> Result<Self, Fault> {
        let (_, to) = replica
            .address
            .split_once("://")
            .ok_or("the address has no scheme")?;
        let to = to.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (cuts, seen) = watch::channel(0);
        let takes = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (to, mut seen) = (to.clone(), seen.clone());
                seen.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(mut far) = TcpStream::connect(to).await else {
                        return;
                    };
                    tokio::select! {
                        biased;
                        _ = seen.changed() => {}
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                    }
                });
            }
        });
        Ok(Self {
            address,
            cuts,
            takes,
        })
    }

    /// The address of the replica on this road.
    pub(crate) fn address(&self, replica: &Replica) -> String {
        let scheme = if replica.files.is_some() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}", self.address)
    }

    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Drop for Road {
    fn drop(&mut self) {
        self.takes.abort();
    }
}
