//! The incoming connections of a replica's doors (listening ports): for clients, for other replicas, for metrics, for clients
//! of the Kubernetes API.
//!
//! [`Door`] has a table that says for each door how many connections there may be, in all and from one address, and how
//! soon a new connection must have introduced itself. No client can keep others out by staying connected: when a door
//! is full, a connection without introduction is closed or, except at the door for replicas, the one idle for longest.
//! So the handshakes of transport security that are under way have a limit and a deadline: they come before introductions.
//! A connection that does not read its answers, never introduces itself or floods the replica with frames is cut.

mod answers;
mod door;
mod flood;
mod guarded;
mod handshake;
mod held;
mod line;
mod register;

use std::sync::Arc;

use futures::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::transport::server::Connected;

use crate::limits::{HEADER_BYTES_MAX, STREAMS_RESET_HERE_MAX, STREAMS_RESET_UNSERVED_MAX};
use crate::metrics::DoorMetrics;
use crate::seams::{Connection, ConnectionInfo, Incoming};
use crate::stop::Stop;

pub(crate) use door::Door;
use guarded::Guarded;
pub(crate) use handshake::Secure;
pub(crate) use held::{Held, Pieces};
pub(crate) use line::{Call, Line, Why};
use register::{Entered, Register};

/// A builder of HTTP/2 servers with the bounds that every door has.
pub(crate) fn http2() -> Server {
    Server::builder()
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .http2_max_pending_accept_reset_streams(Some(STREAMS_RESET_UNSERVED_MAX))
        .http2_max_local_error_reset_streams(Some(STREAMS_RESET_HERE_MAX))
}

/// The connections of one door. Clones share them.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Register>);

impl Connections {
    /// The door without connections.
    pub(crate) fn of(door: Door, metrics: &Arc<DoorMetrics>) -> Self {
        Self(Arc::new(Register::new(door, metrics)))
    }

    /// Those connections of `incoming` for which there is a place, behind `tls` if it is given. All of them end when `cut`
    /// is requested.
    pub(crate) fn let_in(
        &self,
        incoming: Incoming,
        tls: Option<Secure>,
        cut: Option<Stop>,
    ) -> Incoming {
        let register = Arc::clone(&self.0);
        let entered = incoming.filter_map(move |accepted| {
            let entered = match accepted {
                Ok(connection) => {
                    let remote = connection.connect_info().remote;
                    let entered = register.enter(&remote);
                    entered.map(|entered| (connection, entered))
                }
                // The error concerns one connection and must not end the server.
                Err(error) => {
                    tracing::debug!(%error, "a connection could not be accepted");
                    None
                }
            };
            std::future::ready(entered)
        });
        match tls {
            Some(secure) => {
                let agreed = handshake::each(entered, secure, self.0.handshakes_max());
                guarded(agreed, cut)
            }
            None => guarded(entered, cut),
        }
    }

    /// Cuts connections that are silent, unread or over the limit of answer bytes, until `stop`.
    pub(crate) async fn watch_over(self, stop: Stop) {
        self.0.watch_over(stop).await;
    }
}

/// The connections of `entered`, which note what is received and end when they are cut.
fn guarded(
    entered: impl Stream<Item = (Connection, Entered)> + Send + 'static,
    cut: Option<Stop>,
) -> Incoming {
    let guarded = entered.map(move |(connection, entered)| {
        let info = ConnectionInfo {
            line: Some(Arc::clone(entered.line())),
            ..connection.connect_info()
        };
        let guarded = Guarded::new(connection, entered, cut.clone());
        Ok(Connection::known(guarded, info))
    });
    guarded.boxed()
}

#[cfg(test)]
mod tests;
