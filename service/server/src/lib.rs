//! A replica of Synod: everything between the wire and the state machine.
//!
//! A replica makes three promises. A change is acknowledged only when a quorum has it on disk and this replica has
//! applied it. A read sees every change that any replica acknowledged before the read was asked for, unless its caller
//! asks for less. A watch misses nothing and repeats nothing, on whichever replica it continues. What cannot be
//! promised is refused, and a refusal says whether the request was executed, was not, or may have been.
//!
//! The path of a change: `rpc` decodes it, [`handle`] makes a command of it, [`proposer`] packs it with others into one
//! log entry, here or through the leader, [`consensus`] replicates and applies the entry, and the outcome goes back the
//! same way. The path of a read: [`read`] asks the leader for a read index, shared by all reads that wait at that
//! moment, waits until this replica has applied that index, and reads the published state. The path of an event:
//! [`watch`] follows the published history with one cursor for each stream.
//!
//! | module | what |
//! |---|---|
//! | [`replica`], [`config`] | one replica: put together, run and shut down |
//! | `rpc` | the gRPC services for clients, and the layers around them; [`Front`] calls them for another protocol |
//! | [`handle`] | the replica as the services use it |
//! | [`proposer`], `expiry`, `announce` | what proposes log entries |
//! | [`read`], [`watch`] | reads and watches of the published state |
//! | [`consensus`], [`peer`] | the replicated log, and the protocol between replicas |
//! | `health`, `metrics`, `traces` | whether the replica serves, its metrics, and the spans of calls |
//! | [`offline`] | what is done to data directories while no replica runs on them |
//! | [`limits`] | every bound of this crate |
//! | [`access`] | who calls, and whether it may |
//! | [`audit`] | the log of who has called what |
//! | [`security`] | transport security of the ports, and the watch over its files |
//! | [`seams`] | clock, randomness, network, disk and threads, which the simulator replaces |

pub mod access;
pub mod audit;
pub mod config;
pub mod consensus;
pub mod handle;
mod lease_waits;
pub mod limits;
pub mod offline;
pub mod peer;
pub mod proposer;
pub mod read;
pub mod replica;
pub mod seams;
pub mod security;
pub mod watch;

mod announce;
mod connections;
#[cfg(test)]
mod costs;
mod expiry;
pub mod guards;
mod health;
mod http;
mod itself;
mod looking;
mod metrics;
mod objects;
mod room;
mod rpc;
#[cfg(test)]
mod samples;
mod set_changes;
mod stop;
mod traces;

pub use http::{OPEN_METRICS, Probe};
pub use rpc::{Events, Front, InProgress, Origin};
