//! Consensus: one replicated log, and the state that follows from it.
//!
//! This module wraps openraft and is the only place that names its types; everything else of the server sees
//! [`Consensus`]. What it promises:
//!
//! * An entry whose proposal was answered is on the disks of a quorum and applied here; its effects, events included,
//!   were [`Published`] before the answer.
//! * A [read index](Consensus::read_index) is confirmed by a quorum after it was asked for.
//! * What was certainly not executed, and what may have been, are different errors ([`ProposeError`]).
//! * A replica that cannot write, or whose state is in doubt, ends ([`Fatal`]); it never answers from what it cannot
//!   prove.
//!
//! | file | what |
//! |---|---|
//! | `facade` | what the server calls |
//! | `start` | puts a replica together and runs it |
//! | `inbound`, `network`, `outbound`, `wire` | messages: received, sent by Raft, sent by others, and as they travel |
//! | `log_storage`, `state_machine`, `checkpoints`, `record` | openraft's storage on top of `synod-store` and `synod-machine` |
//! | `restored` | what the state begins with |
//! | `damage`, `aside` | which checkpoints are damaged, and what becomes of them |
//! | `published` | what readers see |
//! | `memory`, `remembering` | how far the others had come, and whose data directory went back in time |
//! | `log_end` | how far this replica says that it has come |
//! | `contradiction` | what becomes of a leader that lacks what is committed here |
//! | `digests`, `comparison`, `doubt` | whether the replicas hold the same state |
//! | `timing` | how long checkpoints and peers take |
//! | `leadership`, `suspicion`, `deposing`, `ballot` | who leads; when to doubt it; what to do then; whether this replica may vote |
//! | `runtime`, `types`, `config` | openraft on our seams, with our types and settings |

mod aside;
mod ballot;
mod checkpoints;
mod comparison;
mod config;
mod contradiction;
mod damage;
mod deposing;
mod digests;
mod doubt;
mod error;
mod facade;
mod fatal;
mod inbound;
mod leadership;
mod log_end;
mod log_storage;
mod memory;
mod network;
mod outbound;
mod published;
mod record;
mod remembering;
mod replica;
mod restored;
mod runtime;
mod start;
mod state_machine;
mod status;
mod suspicion;
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
pub(crate) use runtime::SynodRuntime;

#[cfg(test)]
mod tests;
