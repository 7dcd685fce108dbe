//! The places where a replica touches the world, so that a simulator can stand in for it.
//!
//! Production and simulation run the same replica code, tonic and openraft included; only what stands behind these
//! seams differs:
//!
//! | seam | production | simulator |
//! |---|---|---|
//! | timers, monotonic time | tokio's | tokio's, paused: one runtime per replica, moved by the simulation loop |
//! | spawning | `tokio::spawn` | the same, on that replica's single thread |
//! | network ([`Dial`], [`Incoming`]) | TCP | byte pipes with latency and partitions |
//! | disk ([`synod_store::Disk`]) | the file system | memory that forgets what was not synced |
//! | the log's flushes ([`Flushing`]) | a thread of the store | a task that waits a seeded while |
//! | blocking work ([`Offload`]) | a thread pool | inline |
//! | wall clock ([`WallClock`]), display only | the system's | virtual |
//! | randomness ([`random::rng`]) | the system's | seeded, per thread |
//! | watch channels ([`watch`]) | first waiting, first woken | the same |
//!
//! Two rules keep a replica replayable by its seed: every `select!` is `biased`, and nothing else reads a clock, a
//! random source or a thread.

use std::sync::Arc;

mod flushing;
mod net;
mod offload;
pub mod random;
pub mod tcp;
mod wall;
pub mod watch;

pub(crate) use flushing::Flusher;
pub use flushing::Flushing;
pub use net::{Connection, ConnectionInfo, Dial, Duplex, Incoming};
pub use offload::Offload;
pub use wall::{SystemWallClock, WallClock};

/// Everything a replica is given to reach the world with.
#[derive(Clone)]
pub struct Seams {
    /// Opens connections to other replicas.
    pub dialer: Arc<dyn Dial>,
    /// Where the data directory lies.
    pub disk: Arc<dyn synod_store::Disk>,
    /// What time it is, for people.
    pub wall: Arc<dyn WallClock>,
    /// Who flushes the log.
    pub flushing: Flushing,
    /// Where blocking work is done.
    pub offload: Offload,
    /// How many lines of the log the process has dropped so far, for the metrics.
    pub dropped_lines: fn() -> u64,
}

impl Seams {
    /// The seams of a replica that runs for real, on `disk`.
    #[must_use]
    pub fn real(disk: Arc<dyn synod_store::Disk>) -> Self {
        Self {
            dialer: Arc::new(tcp::TcpDialer),
            disk,
            wall: Arc::new(SystemWallClock),
            flushing: Flushing::Thread,
            offload: Offload::Threads,
            dropped_lines: || 0,
        }
    }
}
