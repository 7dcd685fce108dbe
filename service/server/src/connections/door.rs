//! The doors of a replica (its listening ports), and the limits on the connections of each.

use std::time::Duration;

use crate::limits::{
    CONNECTIONS_MAX, CONNECTIONS_PER_SOURCE_MAX, HANDSHAKES_MAX, HTTP1_SILENCE_MAX,
    INTRODUCTION_MAX, KUBE_CONNECTIONS_MAX, METRICS_CONNECTIONS_MAX, METRICS_HANDSHAKES_MAX,
    PEER_CONNECTIONS_MAX, PEER_HANDSHAKES_MAX, PEER_INTRODUCTION_MAX, PEER_STRANGERS_MAX,
    STRANGERS_MAX,
};

/// A door of a replica: one of its listening ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Door {
    /// The port for clients.
    Client,
    /// The port for other replicas.
    Peer,
    /// The port for metrics.
    Metrics,
    /// The port for clients of the Kubernetes API.
    Kube,
}

/// What is spoken at a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// HTTP/2, as gRPC does.
    Http2,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2 or HTTP/1.1: how a connection begins tells which.
    Either,
}

/// The limits of a door.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The most connections in all.
    pub(super) connections: usize,
    /// The most connections from one address.
    pub(super) per_source: usize,
    /// The most connections that have not introduced themselves; the other places are kept for those that have.
    pub(super) strangers: usize,
    /// The most handshakes of transport security that are under way.
    pub(super) handshakes: usize,
    /// How soon a connection must have introduced itself.
    pub(super) introduction: Duration,
    /// What counts as an introduction.
    pub(super) introduced: Introduced,
    pub(super) speaks: Speaks,
    /// A connection that sends nothing for this long is closed, unless a call is in progress on it. On one of HTTP/2, pings
    /// find out that it is dead instead.
    pub(super) silence: Option<Duration>,
    /// Whether an introduced connection gives its place up to a new one while it is idle.
    pub(super) idle_give_way: bool,
}

/// What a connection must have sent to count as introduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Introduced {
    /// The preface of HTTP/2.
    Preface,
    /// A call that was let in.
    Call,
    /// Any byte.
    Anything,
}

impl Door {
    pub(crate) const ALL: [Self; 4] = [Self::Client, Self::Peer, Self::Metrics, Self::Kube];

    /// The name in metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Peer => "peer",
            Self::Metrics => "metrics",
            Self::Kube => "kube",
        }
    }

    pub(super) const fn rules(self) -> Rules {
        match self {
            Self::Client => Rules {
                connections: CONNECTIONS_MAX,
                per_source: CONNECTIONS_PER_SOURCE_MAX,
                strangers: STRANGERS_MAX,
                handshakes: HANDSHAKES_MAX,
                introduction: INTRODUCTION_MAX,
                introduced: Introduced::Preface,
                speaks: Speaks::Http2,
                silence: None,
                idle_give_way: true,
            },
            Self::Peer => Rules {
                connections: PEER_CONNECTIONS_MAX,
                per_source: PEER_CONNECTIONS_MAX,
                strangers: PEER_STRANGERS_MAX,
                handshakes: PEER_HANDSHAKES_MAX,
                introduction: PEER_INTRODUCTION_MAX,
                introduced: Introduced::Call,
                speaks: Speaks::Http2,
                silence: None,
                idle_give_way: false,
            },
            Self::Metrics => Rules {
                connections: METRICS_CONNECTIONS_MAX,
                per_source: METRICS_CONNECTIONS_MAX,
                strangers: METRICS_CONNECTIONS_MAX,
                handshakes: METRICS_HANDSHAKES_MAX,
                introduction: INTRODUCTION_MAX,
                introduced: Introduced::Anything,
                speaks: Speaks::Http1,
                silence: Some(HTTP1_SILENCE_MAX),
                idle_give_way: true,
            },
            Self::Kube => Rules {
                connections: KUBE_CONNECTIONS_MAX,
                per_source: CONNECTIONS_PER_SOURCE_MAX,
                strangers: STRANGERS_MAX,
                handshakes: HANDSHAKES_MAX,
                introduction: INTRODUCTION_MAX,
                introduced: Introduced::Anything,
                speaks: Speaks::Either,
                silence: Some(HTTP1_SILENCE_MAX),
                idle_give_way: true,
            },
        }
    }
}
