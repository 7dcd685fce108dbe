//! Checkpoints: the whole replicated state at one position of the log, each in a file of its own.
//!
//! A checkpoint replaces the entries before it, so a damaged one must never be used, and another must be left to fall
//! back to: the two newest are kept, and the log is purged only up to the older of them
//! ([`CheckpointStore::purge_bound`]).
//!
//! A checkpoint that fails its check is renamed, with `.damaged` at the end of its name, and never read again. The
//! newest such file is kept for inspection.
//!
//! # Layout of a checkpoint, format 1
//!
//! All numbers are little-endian. A file is a header, any number of chunks and a trailer. Every checksum is a CRC32C
//! that continues the one before it, over everything between the two: so each covers the file from its start, and the
//! last one the whole file. Chunks that were lost, doubled or exchanged do not pass.
//!
//! | header | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SYNODCKP` |
//! | 8 | 4 | format version |
//! | 12 | 4 | the oldest format version whose readers understand this file |
//! | 16 | 16 | cluster id |
//! | 32 | 24 | the log id of the last entry in the state: term, leader, index |
//! | 56 | 4 | length of the metadata |
//! | 60 | | metadata, opaque (the replica set) |
//! | | 4 | checksum |
//!
//! | chunk | bytes | what |
//! |---|---|---|
//! | 0 | 4 | length of the content |
//! | 4 | 4 | kind: 1 |
//! | 8 | | content, opaque (rows of the state) |
//! | | 4 | checksum |
//!
//! | trailer | bytes | what |
//! |---|---|---|
//! | 0 | 4 | length of the content: 16 |
//! | 4 | 4 | kind: 2 |
//! | 8 | 8 | number of chunks |
//! | 16 | 8 | length of the contents of all chunks |
//! | 24 | 4 | checksum |
//!
//! The file ends with the trailer.

mod directory;
mod error;
mod file;
mod layout;
mod loading;
mod reader;
mod rows;
mod store;
mod writer;

pub use error::CheckpointError;
pub use file::CheckpointFile;
pub use loading::read_state;
pub use reader::CheckpointReader;
pub use rows::{MalformedRows, RowChunks, Rows};
pub use store::{CheckpointStore, Loaded};
pub use writer::CheckpointWriter;

use bytes::Bytes;

use crate::log_id::LogId;

/// The length that chunks should have, in bytes: the writer of the state fills a chunk up to it.
pub const CHUNK_BYTES_TARGET: usize = 1 << 20;

/// The greatest length of a chunk, in bytes. It leaves room for a single row longer than the target.
pub const CHUNK_BYTES_MAX: usize = 8 << 20;

/// The greatest length of the metadata, in bytes.
pub const META_BYTES_MAX: usize = 1 << 20;

/// The contents of a checkpoint's header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointHeader {
    /// The cluster.
    pub cluster_id: [u8; 16],
    /// The last entry whose effect is in the state.
    pub last: LogId,
    /// The replica set as of that entry, opaque.
    pub meta: Bytes,
}

#[cfg(test)]
mod tests;
