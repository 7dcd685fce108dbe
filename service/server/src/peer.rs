//! The protocol between replicas, over gRPC: its messages, client and server, and how a replica set is formed.
//!
//! All calls from one replica to another share one HTTP/2 connection. Each call names the cluster, both replicas and
//! both data directories ([`PeerIdentity`]); a replica refuses calls that are not meant for it.

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

/// The generated client and server.
pub mod protocol {
    #![expect(
        unused_qualifications,
        reason = "generated code names everything in full"
    )]
    include!(concat!(env!("OUT_DIR"), "/synod.peer.v1.Peer.rs"));
}

/// The window of a stream: bytes that may be sent before the receiver has read them.
const STREAM_WINDOW: u32 = 2 << 20;

/// The window of a whole connection.
const CONNECTION_WINDOW: u32 = 8 << 20;
