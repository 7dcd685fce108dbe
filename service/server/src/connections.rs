//! The connections that come in by the doors of a replica: clients', other replicas' and those that ask for metrics.
//!
//! One table says for each door how many there may be, in all and from one address, how soon who comes in must have said
//! what it is, and what it may do. Nobody keeps others out by being there: where there is no place left, the connection
//! that has been idle for longest gives its place up. A connection that does not take its answers, says nothing sensible
//! or floods the replica with frames is cut.

mod answers;
mod flood;
mod guarded;
mod line;
mod register;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tonic::transport::Server;
use tonic::transport::server::Connected;

use crate::limits::{
    CONNECTIONS_MAX, CONNECTIONS_PER_SOURCE_MAX, HEADER_BYTES_MAX, INTRODUCTION_MAX,
    METRICS_CONNECTIONS_MAX, METRICS_SILENCE_MAX, PEER_CONNECTIONS_MAX, PEER_INTRODUCTION_MAX,
    PEER_STRANGERS_MAX, STRANGERS_MAX,
};
use crate::metrics::DoorMetrics;
use crate::seams::{Connection, Incoming};
use crate::stop::Stop;

pub(crate) use answers::{Held, Pieces};
use guarded::Guarded;
pub(crate) use line::{Call, Line, Why};
use register::Register;

/// Who comes in by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Door {
    /// Clients.
    Client,
    /// Other replicas.
    Peer,
    /// Whoever asks for metrics.
    Metrics,
}

/// What a door lets in.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Connections in all.
    connections: usize,
    /// Connections from one address.
    per_source: usize,
    /// Connections that have not said yet what they are; the other places are kept for those that have.
    strangers: usize,
    /// How soon they must have.
    introduction: Duration,
    /// When it has.
    introduced: Introduced,
    /// A connection that says nothing for as long is closed. `None`: HTTP/2 asks it whether it is still there.
    silence: Option<Duration>,
    /// Whether one that has said what it is gives its place up while it is idle.
    idle_give_way: bool,
}

/// When a connection has said what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Introduced {
    /// It has begun as every HTTP/2 connection does.
    Preface,
    /// A call of it was let in.
    Call,
    /// It has said anything.
    Anything,
}

impl Door {
    pub(crate) const ALL: [Self; 3] = [Self::Client, Self::Peer, Self::Metrics];

    /// Its name in metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Peer => "peer",
            Self::Metrics => "metrics",
        }
    }

    const fn rules(self) -> Rules {
        match self {
            Self::Client => Rules {
                connections: CONNECTIONS_MAX,
                per_source: CONNECTIONS_PER_SOURCE_MAX,
                strangers: STRANGERS_MAX,
                introduction: INTRODUCTION_MAX,
                introduced: Introduced::Preface,
                silence: None,
                idle_give_way: true,
            },
            Self::Peer => Rules {
                connections: PEER_CONNECTIONS_MAX,
                per_source: PEER_CONNECTIONS_MAX,
                strangers: PEER_STRANGERS_MAX,
                introduction: PEER_INTRODUCTION_MAX,
                introduced: Introduced::Call,
                silence: None,
                idle_give_way: false,
            },
            Self::Metrics => Rules {
                connections: METRICS_CONNECTIONS_MAX,
                per_source: METRICS_CONNECTIONS_MAX,
                strangers: METRICS_CONNECTIONS_MAX,
                introduction: INTRODUCTION_MAX,
                introduced: Introduced::Anything,
                silence: Some(METRICS_SILENCE_MAX),
                idle_give_way: true,
            },
        }
    }
}

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
