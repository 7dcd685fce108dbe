//! The disk of a replica: log, vote, checkpoints and the identity of the data directory.
//!
//! The contract of this crate:
//!
//! * What was reported durable is read back after any crash. If a file was damaged later, the   replica refuses to
//!   start and names the file and the offset. Damage to the very last batch of the log   may cut that batch: the
//!   replica then starts and must catch up first ([`wal`]). Nothing else is ever read.
//! * Every byte that is read is covered by a checksum that is verified before the byte is used.
//! * A file whose format is newer than this build is left exactly as it is.
//! * After one failed write or sync nothing is ever reported durable again ([`wal`], [`vote`]).
//! * All access to the file system goes through the [`disk::Disk`] trait, so that a whole replica runs on a   simulated
//!   disk by seed.
//!
//! The crate is synchronous and does not know the consensus library. Only [`payload`] knows the content of entries.
//!
//! A data directory:
//!
//! ```text
//! <data-dir>/LOCK                      held while a process owns the directory
//! <data-dir>/IDENTITY                  the cluster, the replica and the format   identity
//! <data-dir>/VOTE                      the current term and vote                 vote
//! <data-dir>/PEERS                     entries known to be on the others' disks  peers
//! <data-dir>/DOUBT                     the replicas' states are known to differ      doubt
//! <data-dir>/FOUNDING                  a cluster is being founded here, and is not whole yet   identity
//! <data-dir>/wal/<number>.wal          segments of the log                       wal
//! <data-dir>/wal/<number>.wal.<offset>.broken   a torn tail that recovery cut off
//! <data-dir>/wal/MUST-CATCH-UP         no vote before the replica has caught up  wal
//! <data-dir>/checkpoints/<index>-<term>-<leader>.checkpoint                      checkpoint
//! <data-dir>/checkpoints/<name>.checkpoint.damaged   one that failed its check, kept for inspection
//! ```

pub mod backup;
pub mod checkpoint;
pub mod disk;
pub mod identity;
pub mod payload;
pub mod peers;
pub mod vote;
pub mod wal;

#[cfg(test)]
mod cases;
mod doubt;
mod failure;
mod log_id;
mod replace;

pub use checkpoint::{CheckpointReader, CheckpointStore, CheckpointWriter};
pub use disk::{Disk, DiskFile, FrozenDisk, RealDisk, SimDisk, Space};
pub use doubt::DoubtFile;
pub use failure::IoFailure;
pub use identity::{DataDirectory, Identity};
pub use log_id::{LogId, LogRecord};
pub use vote::{Vote, VoteFile};
pub use wal::{Log, LogConfig, LogStatus, LogWriter, LostEnd, Recovery};

/// The version of the on-disk formats that this build writes.
///
/// One number covers every file of a data directory. A build reads every version up to its own.
pub const FORMAT_VERSION: u32 = 1;

/// The oldest build, named by its [`FORMAT_VERSION`], that can read what this build writes.
pub const MIN_READER_VERSION: u32 = 1;
