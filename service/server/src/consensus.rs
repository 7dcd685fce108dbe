//! Consensus: one replicated log, and the state that follows from it.
//!
//! This module wraps openraft and is the only place that names its types; the rest of the server sees [`Consensus`]. It
//! promises:
//!
//! * An entry whose proposal was answered is on the disks of a quorum and applied here; its effects, events included,
//!   were [`Published`] before the answer.
//! * A [read index](Consensus::read_index) is confirmed by a quorum after it was asked for.
//! * What was certainly not executed, and what may have been executed, are different errors ([`ProposeError`]).
//! * A replica that cannot write, or whose state differs from a majority's, ends ([`Fatal`]) instead of answering from
//!   it. While the states differ and no majority agrees, writes are refused.
//!
//! | file | what |
//! |---|---|
//! | `facade` | what the server calls |
//! | `start` | puts a replica together and runs it |
//! | `inbound`, `network`, `outbound`, `wire` | messages: incoming, openraft's, others', and their wire form |
//! | `log_storage`, `state_machine`, `checkpoints`, `record` | openraft's storage on our store and machine |
//! | `restored` | the state that a replica starts with |
//! | `damage`, `aside` | which checkpoints are damaged, and how they are replaced |
//! | `published` | the state that readers see |
//! | `read_index`, `acknowledgements` | what a read waits for; whether this replica still leads |
//! | `memory`, `remembering` | how far each replica's log had come, and whose data directory went back in time |
//! | `log_end` | where this replica's log ends, as the others are told |
//! | `contradiction` | refuses a leader that lacks entries committed here |
//! | `digests`, `comparison`, `doubt` | whether the replicas hold the same state |
//! | `timing` | how long checkpoints and calls to peers take |
//! | `replica_set` | changes of the replica set |
//! | `hand_over` | handing the leadership over |
//! | `leadership`, `suspicion`, `deposing`, `ballot`, `catch_up` | who leads; how its death is noticed; who may vote, and when again |
//! | `heartbeats`, `ticking`, `contact` | the leader's calls; when openraft's timer may stand |
//! | `upkeep`, `noted` | the tasks beside openraft; the replicas that they are told of |
//! | `runtime`, `types`, `config` | openraft on our seams, with our types and settings |

mod acknowledgements;
mod aside;
mod ballot;
mod catch_up;
mod checkpoints;
mod comparison;
mod config;
mod conflicts;
mod contact;
mod contradiction;
mod cut_off;
mod damage;
mod deposing;
mod digests;
mod doubt;
mod error;
mod facade;
mod fatal;
mod hand_over;
mod heartbeats;
mod inbound;
mod leadership;
mod log_end;
mod log_storage;
mod memory;
mod network;
mod noted;
mod outbound;
mod published;
mod read_index;
mod record;
mod remembering;
mod replica;
mod replica_set;
mod restored;
mod runtime;
mod start;
mod state_machine;
mod stated_cuts;
mod status;
mod suspicion;
mod ticking;
mod timing;
mod transfer;
mod types;
mod upkeep;
mod wire;

pub use config::{ConsensusConfig, InvalidConfig};
pub use error::{NotExecuted, ProposeError, ReadIndexError, Stopped, TransferError, WaitError};
pub use facade::{Consensus, Pending};
pub use fatal::Fatal;
pub use leadership::Leadership;
pub use outbound::RemoteReadError;
pub use published::{AppliedEntry, Progress, Published};
pub use replica::{DirectoryId, Position, ReplicaAddress, ReplicaId, Term};
pub use start::{StartError, start};
pub use status::{ReplicaStatus, Status};
pub use timing::Timed;

pub(crate) use inbound::InboundError;
pub(crate) use replica_set::SetError;
pub(crate) use runtime::SynodRuntime;

#[cfg(test)]
mod tests;
