//! A replica of Synod: everything between the wire and the state machine.
//!
//! A replica answers for three promises. A change is acknowledged only when a quorum has it on disk and this replica
//! has applied it. A read sees every change that was acknowledged, anywhere, before it was asked, unless its caller
//! settles for less. A watch misses nothing and repeats nothing, on whichever replica it goes on. What cannot be
//! promised is refused, and a refusal says whether the request was executed, was not, or may have been.
//!
//! The path of a change: `rpc` reads it, [`handle`] admits it, [`proposer`] packs it with others into one log entry,
//! here or by way of the leader, [`consensus`] replicates and applies the entry, and the outcome goes back the same way.
//! The path of a read: [`read`] asks the leader for an index together with all who ask at that moment, waits until this
//! replica has come there, and reads the published state. The path of an event: [`watch`] follows the published history
//! with one cursor for each stream.
//!
//! | module | what |
//! |---|---|
//! | [`replica`], [`config`] | one replica, put together, run and shut down |
//! | `rpc` | the gRPC services for clients, and the layers around them |
//! | [`handle`] | what the services stand on |
//! | [`proposer`], `expiry`, `announce` | what is written, and when |
//! | [`read`], [`watch`] | what is read |
//! | [`consensus`], [`peer`] | the replicated log, and the protocol between replicas |
//! | `health`, `metrics` | whether all is well |
//! | [`limits`] | every bound of this crate |
//! | [`seams`] | where the simulator steps in |

pub mod config;
pub mod consensus;
pub mod handle;
mod lease_waits;
pub mod limits;
pub mod peer;
pub mod proposer;
pub mod read;
pub mod replica;
pub mod seams;
pub mod watch;

mod announce;
mod connections;
mod expiry;
mod health;
mod metrics;
mod objects;
mod room;
mod rpc;
#[cfg(test)]
mod samples;
mod stop;
