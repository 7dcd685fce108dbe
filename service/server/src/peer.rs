//! What replicas say to each other, over gRPC: the messages, both ends of it, and how a replica set is formed.
//!
//! Everything between two replicas shares one HTTP/2 connection in each direction. Each call names the cluster, both
//! replicas and both data directories ([`PeerIdentity`]); whoever is not meant refuses it.

use std::time::Duration;

mod client;
pub mod codec;
mod connections;
mod formation;
mod identity;
mod log_end;
pub mod messages;
mod refusals;
mod serve;
mod service;

pub use client::{PeerClients, PeerError};
pub use formation::{Formation, form};
pub use identity::{PeerIdentity, Refusal};
pub use serve::serve;
pub use service::ForwardHandler;

pub(crate) use client::{Acquaintance, PeerLink};
pub(crate) use log_end::LogEnd;

/// Both ends of the calls, generated.
pub mod protocol {
    #![expect(
        unused_qualifications,
        reason = "generated code names everything in full"
    )]
    include!(concat!(env!("OUT_DIR"), "/synod.peer.v1.Peer.rs"));
}

/// An idle connection is asked this often whether it is still there. Only that finds out when packets vanish silently.
const KEEPALIVE_INTERVAL: Duration = Duration::from_millis(500);

/// A connection that has not answered for as long is given up.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_millis(1_000);

/// So many bytes may be under way on one stream before the receiver has read them.
const STREAM_WINDOW: u32 = 2 << 20;

/// And so many on the whole connection.
const CONNECTION_WINDOW: u32 = 8 << 20;
