//! The doors of a replica, and what each of them lets in.

use std::time::Duration;

use crate::limits::{
    CONNECTIONS_MAX, CONNECTIONS_PER_SOURCE_MAX, INTRODUCTION_MAX, METRICS_CONNECTIONS_MAX,
    METRICS_SILENCE_MAX, PEER_CONNECTIONS_MAX, PEER_INTRODUCTION_MAX, PEER_STRANGERS_MAX,
    STRANGERS_MAX,
};

/// One of the doors of a replica.
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
pub(super) struct Rules {
    /// Connections in all.
    pub(super) connections: usize,
    /// Connections from one address.
    pub(super) per_source: usize,
    /// Connections that have not said yet what they are; the other places are kept for those that have.
    pub(super) strangers: usize,
    /// How soon they must have.
    pub(super) introduction: Duration,
    /// When it has.
    pub(super) introduced: Introduced,
    /// A connection that says nothing for as long is closed. `None`: HTTP/2 asks it whether it is still there.
    pub(super) silence: Option<Duration>,
    /// Whether one that has said what it is gives its place up while it is idle.
    pub(super) idle_give_way: bool,
}

/// When a connection has said what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Introduced {
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

    pub(super) const fn rules(self) -> Rules {
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
