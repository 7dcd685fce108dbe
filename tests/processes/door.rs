//! A way of a client to a replica that can lose answers.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::relay::{Flow, relay};

/// A proxy before the port of a replica where clients are served.
pub(crate) struct Door {
    address: SocketAddr,
    requests: watch::Sender<Flow>,
    answers: watch::Sender<Flow>,
    accepting: JoinHandle<()>,
}

impl Door {
    /// A way to `target` by which everything arrives.
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

    /// Where clients find it.
    pub(crate) fn endpoint(&self) -> String {
        self.address.to_string()
    }

    /// From now on requests arrive and answers do not.
    pub(crate) fn hold_answers(&self) {
        self.answers.send_replace(Flow::Held);
    }

    /// Breaks every connection: what was held is lost. New ones break, too, until [`Self::mend`].
    pub(crate) fn cut(&self) {
        self.requests.send_replace(Flow::Cut);
        self.answers.send_replace(Flow::Cut);
    }

    /// Lets everything through again.
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
