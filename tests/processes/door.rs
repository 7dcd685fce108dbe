//! A proxy between clients and a replica that can lose answers.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::relay::{Flow, relay};

/// A proxy in front of a replica's client port.
pub(crate) struct Door {
    address: SocketAddr,
    requests: watch::Sender<Flow>,
    answers: watch::Sender<Flow>,
    accepting: JoinHandle<()>,
}

impl Door {
    /// A proxy to `target` that passes everything on at first.
    pub(crate) async fn before(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((target.ip(), 0))
            .await
            .expect("a port is free");
        let address = listener.local_addr().expect("a listener has an address");
        let (requests, requests_flow) = watch::channel(Flow::Open);
        let (answers, answers_flow) = watch::channel(Flow::Open);
        let accepting = tokio::spawn(async move {
            while let Ok((inbound, _)) = listener.accept().await {
                tokio::spawn(relay(
                    inbound,
                    target,
                    requests_flow.clone(),
                    answers_flow.clone(),
                ));
            }
        });
        Self {
            address,
            requests,
            answers,
            accepting,
        }
    }

    /// The address that clients connect to.
    pub(crate) fn endpoint(&self) -> String {
        self.address.to_string()
    }

    /// Passes requests on and holds answers back from now on.
    pub(crate) fn hold_answers(&self) {
        self.answers.send_replace(Flow::Held);
    }

    /// Breaks every connection with its held answers, and every new one until [`Self::mend`].
    pub(crate) fn cut(&self) {
        self.requests.send_replace(Flow::Cut);
        self.answers.send_replace(Flow::Cut);
    }

    /// Passes everything on again.
    pub(crate) fn mend(&self) {
        self.requests.send_replace(Flow::Open);
        self.answers.send_replace(Flow::Open);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
