//! The seams between a replica and its environment, which a simulator replaces.
//!
//! Production and simulation run the same replica code, tonic and openraft included; only the implementations behind
//! these seams differ:
//!
//! | seam | production | simulator |
//! |---|---|---|
//! | timers, monotonic time | tokio's | tokio's, paused: one runtime per replica, moved by the simulation loop |
//! | spawning | `tokio::spawn` | the same, on that replica's single thread |
//! | network ([`Dial`], [`Incoming`]) | TCP | byte pipes with latency and partitions |
//! | disk ([`synod_store::Disk`]) | the file system | memory that forgets what was not synced |
//! | the log's flushes ([`Flushing`]) | a thread of the store | a task that waits a seeded while |
//! | blocking work ([`Offload`]) | a thread pool | inline |
//! | wall clock ([`WallClock`]), display, and dates that members name | the system's | virtual |
//! | the process's log ([`ProcessLog`]) | the program's | none |
//! | the process's traces ([`ProcessTraces`]) | the program's, if they are exported | none |
//! | randomness ([`random::rng`]) | the system's | seeded, per thread |
//! | watch channels ([`watch`]) | first waiting, first woken | the same |
//!
//! Two rules make a replica's run reproducible by its seed: every `select!` is `biased`, and no other code reads a
//! clock, a random source or a thread.

use std::sync::Arc;

mod flushing;
mod log;
mod net;
mod offload;
pub mod random;
pub mod tcp;
mod traces;
mod wall;
pub mod watch;

pub(crate) use flushing::Flusher;
pub use flushing::Flushing;
pub use log::{LogFilter, NoLog, ProcessLog};
pub use net::{Caller, Connection, ConnectionInfo, Dial, Duplex, Incoming};
pub use offload::Offload;
pub use traces::{ProcessTraces, SpanCounts};
pub use wall::{SystemWallClock, WallClock};

/// The implementations of all seams for one replica.
#[derive(Clone)]
pub struct Seams {
    /// Opens connections to other replicas.
    pub dialer: Arc<dyn Dial>,
    /// The disk that holds the data directory.
    pub disk: Arc<dyn synod_store::Disk>,
    /// The time of day, for display only.
    pub wall: Arc<dyn WallClock>,
    /// How the log is flushed to the disk.
    pub flushing: Flushing,
    /// Where blocking work runs.
    pub offload: Offload,
    /// The log of the process.
    pub log: Arc<dyn ProcessLog>,
    /// The traces of the process; `None`: no spans are made.
    pub traces: Option<Arc<dyn ProcessTraces>>,
}

impl Seams {
    /// The seams of a replica in production, on `disk`.
    #[must_use]
    pub fn real(disk: Arc<dyn synod_store::Disk>) -> Self {
        Self {
            dialer: Arc::new(tcp::TcpDialer),
            disk,
            wall: Arc::new(SystemWallClock),
            flushing: Flushing::Thread,
            offload: Offload::Threads,
            log: Arc::new(NoLog),
            traces: None,
        }
    }
}
