//! The connections that come in by the doors of a replica: clients', other replicas' and those that ask for metrics.
//!
//! One table says for each door how many there may be, in all and from one address, how soon who comes in must have said
//! what it is, and what it may do. Nobody keeps others out by being there: where there is no place left, the connection
//! that has been idle for longest gives its place up. A connection that does not take its answers, says nothing sensible
//! or floods the replica with frames is cut.

mod answers;
mod door;
mod flood;
mod guarded;
mod held;
mod line;
mod register;

use std::sync::Arc;

use futures::StreamExt;
use tonic::transport::Server;
use tonic::transport::server::Connected;

use crate::limits::HEADER_BYTES_MAX;
use crate::metrics::DoorMetrics;
use crate::seams::{Connection, Incoming};
use crate::stop::Stop;

pub(crate) use door::Door;
use guarded::Guarded;
pub(crate) use held::{Held, Pieces};
pub(crate) use line::{Call, Line, Why};
use register::Register;

/// Streams that the other end opens and takes back before they are served.
const PENDING_RESETS_MAX: usize = 20;

/// Streams that this replica had to reset, on one connection.
const OWN_RESETS_MAX: usize = 128;

/// A server of HTTP/2 with the bounds that every door has.
pub(crate) fn http2() -> Server {
    Server::builder()
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .http2_max_pending_accept_reset_streams(Some(PENDING_RESETS_MAX))
        .http2_max_local_error_reset_streams(Some(OWN_RESETS_MAX))
}

/// The connections of one door. Clones are of the same one.
#[derive(Clone)]
pub(crate) struct Connections(Arc<Register>);

impl Connections {
    /// None yet.
    pub(crate) fn of(door: Door, metrics: &Arc<DoorMetrics>) -> Self {
        Self(Arc::new(Register::new(door, metrics)))
    }

    /// The connections of `incoming` that there is a place for. All of them end when `cut` is requested.
    pub(crate) fn let_in(&self, incoming: Incoming, cut: Option<Stop>) -> Incoming {
        let register = Arc::clone(&self.0);
        let let_in = incoming.filter_map(move |accepted| {
            let let_in = match accepted {
                Ok(connection) => {
                    let info = connection.connect_info();
                    register.enter(&info.remote).map(|entered| {
                        let line = Arc::clone(entered.line());
                        let guarded = Guarded::new(connection, entered, cut.clone());
                        Ok(Connection::of_line(guarded, info.remote, line))
                    })
                }
                // It concerns one connection, and must not end the server.
                Err(error) => {
                    tracing::debug!(%error, "a connection could not be accepted");
                    None
                }
            };
            std::future::ready(let_in)
        });
        let_in.boxed()
    }

    /// Cuts what must not go on, until `stop`.
    pub(crate) async fn watch_over(self, stop: Stop) {
        self.0.watch_over(stop).await;
    }
}

#[cfg(test)]
mod tests;
