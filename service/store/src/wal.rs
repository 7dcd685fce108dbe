//! The log of a replica: segments of batches of records, one write and one sync for each batch.
//!
//! # What is promised
//!
//! An entry whose callback got `Ok` is read back after any crash, or the log refuses to open. The unit is the
//! **batch**: everything in the queue when the previous sync ended, written by one write, made durable by one
//! `fdatasync`. After a crash a batch is there as a whole or not at all.
//!
//! # Segments
//!
//! Files of a fixed length, filled with zeros before they are used: a write into them allocates nothing, and its sync
//! has only data to write. A batch never spans two segments; a batch that does not fit into the rest of a segment
//! begins the next, and is written together with its header. **A segment is begun only when everything before it is
//! durable.** Segments are removed from the front, when a purge that covers all their entries is durable.
//!
//! # Layout, format 1
//!
//! All numbers are little-endian; every checksum is a CRC32C; a log id is term, leader, index.
//!
//! | segment header | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SYNODWAL` |
//! | 8 | 4 | format version |
//! | 12 | 4 | the oldest format version whose readers understand this file |
//! | 16 | 16 | directory id |
//! | 32 | 8 | number of the segment, from 1 |
//! | 40 | 8 | sequence of the first batch in it |
//! | 48 | 4 | chain: the last checksum of the previous segment, 0 before the first |
//! | 52 | 4 | flags: which of the following are there: 1 purged, 2 last, 4 committed |
//! | 56 | 24 | log id up to which the log was purged before this segment |
//! | 80 | 24 | last log id before this segment |
//! | 104 | 24 | committed log id as written before this segment |
//! | 128 | 12 | zeros |
//! | 140 | 4 | checksum of bytes 0 to 139 |
//!
//! | batch header | bytes | what |
//! |---|---|---|
//! | 0 | 4 | `0xB47C51A0` |
//! | 4 | 4 | length of the records that follow, in bytes |
//! | 8 | 4 | number of records |
//! | 12 | 8 | sequence, from 1 through all segments |
//! | 20 | 8 | durable: the sequence up to which batches were durable before this one was written |
//! | 28 | 4 | chain: the last checksum before this header |
//! | 32 | 4 | checksum of bytes 0 to 31, seeded with directory id, segment number and offset |
//!
//! | record | bytes | what |
//! |---|---|---|
//! | 0 | 4 | length of the content |
//! | 4 | 4 | kind: 1 entry, 2 truncate after, 3 purged, 4 committed |
//! | 8 | 4 | checksum of all of the record but itself, seeded with the last checksum before it |
//! | 12 | | log id (none, where everything is truncated), then the payload of an entry |
//!
//! So the checksums form one chain through all records, headers and segments: a record is valid only in the place where
//! it was written, after the records before it. A batch header can also be verified by itself, which recovery needs;
//! its seed prevents other bytes, payloads included, from passing as a batch header.
//!
//! # Marks
//!
//! If nothing waits after a sync, an empty batch is written behind it, and not synced: a mark. Its `durable` field
//! proves that everything before it was durable. Without it only the next batch would, and damage to the last batch of
//! an idle log could not be told from an unfinished write. A mark costs one write into a page that the next batch
//! writes anyway. [`Log::seal`] writes one for a clean stop and syncs it.
//!
//! # The end of the log after a crash, and what recovery does with it
//!
//! At any time at most one batch is being written, perhaps with an unsynced mark before it. A crash keeps or loses each
//! sector of it ([`SECTOR_BYTES`](crate::disk::SECTOR_BYTES)) independently, so after a hole of zeros more of the same
//! write may follow. Everything before it is durable. Recovery reads batches until one is broken, and then decides:
//!
//! 1. **In any segment but the last**: the next segment was begun when this one was durable. Unless the
//!    next one continues where the reading ended, acknowledged data is damaged: *refuse*.
//! 2. **A batch header further on is valid and says that the broken batch was durable** when it was
//!    written: *refuse*. (This is what the `durable` field, the seed and the marks are for.)
//! 3. **The header of the broken batch is readable, and after the end that it gives, some bytes are not
//!    zero**: only one write was in flight, so those bytes are of a later one: *refuse*.
//! 4. **A frame has a valid checksum but an invalid content**, such as a record of an unknown kind: it was
//!    written like this, by a newer build or a faulty one: *refuse*.
//! 5. Otherwise nothing proves that the broken batch was ever durable: *cut* the log before it. The cut
//!    bytes are copied to a file beside the segment, then replaced by zeros, so that no stale bytes are
//!    where the next batches go.
//!
//! A cut in case 5 is right if the batch was torn. It would lose acknowledged data if the batch had been durable and
//! was damaged later, before anything was written after it. The two look different: in a torn batch the first broken
//! frame touches a sector in which everything that the batch wrote is still zeros. If no sector is missing and the
//! checksum is wrong all the same, the end is **complete-looking**: it is cut and reported
//! ([`Recovery::must_catch_up`]), and the replica does not vote until it has caught up. The file that demands this is
//! durable before the cut is made.
//!
//! One case cannot be told from a torn write: a device that returns zeros for whole sectors of the very last batch,
//! which it had reported durable, of a log that was neither idle nor stopped cleanly.
//!
//! The caller may act on what recovery returns at once, so recovery makes it durable first. A sync alone is not enough:
//! after a failed sync the system may hold pages that it believes to be clean and that never reached the device.
//! Everything that is not proved to be durable is therefore written again in place and then synced.
//!
//! # Errors
//!
//! After a failed write or sync nothing is known about the batch, and trying again proves nothing. The
//! log is poisoned: all callbacks and all later calls get the error, and the process must stop.
//!
//! # Files
//!
//! `<number>.wal` are the segments; `<segment>.<offset>.broken` is what was cut off one, removed along with it;
//! `MUST-CATCH-UP` exists until [`Log::caught_up`] is called; `*.tmp` are unfinished segments.

mod appender;
mod chores;
mod entries;
mod error;
mod flush;
mod layout;
mod log;
mod must_catch_up;
mod names;
mod queue;
mod read;
mod recovery;
mod shared;
mod writer;

pub use error::{LogError, OpenError};
pub use log::{Log, LogStatus};
pub use must_catch_up::LostEnd;
pub use queue::Done;
pub use recovery::{Recovery, TailCut};
pub use writer::LogWriter;

/// The longest payload of one entry, in bytes.
///
/// Far above what a leader proposes (an entry is capped at 1 MiB or one command), so that another limit is always met
/// first.
pub const RECORD_BYTES_MAX: usize = synod_model::limits::WAL_RECORD_BYTES_MAX;

/// The most that one [`Log::enqueue_append`] takes, in bytes. A batch length can express it, and it is more than a
/// process should hold in memory.
pub const APPEND_BYTES_MAX: usize = 1 << 30;

// A batch is one append, or fills up to a configured bound, and ends with at most one commit.
const _: () =
    assert!(RECORD_BYTES_MAX < APPEND_BYTES_MAX && APPEND_BYTES_MAX < u32::MAX as usize / 2);

/// Sizes of a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogConfig {
    /// The id of the data directory; segments of another one are refused.
    pub directory_id: [u8; 16],
    /// The length of a segment, in bytes. A longer batch gets a longer segment.
    pub segment_bytes: u64,
    /// The bytes that may wait to be written before [`Log::enqueue_append`] returns [`LogError::Full`]. The append that
    /// crosses the bound is still taken.
    pub queue_bytes_max: usize,
    /// The most bytes that go into one batch, unless one append alone is longer.
    pub batch_bytes_max: usize,
    /// The bytes of payload of the newest entries that are kept in memory. Unwritten entries are kept in any case.
    pub cache_bytes_max: usize,
}

impl LogConfig {
    /// The sizes for production.
    ///
    /// Segments of 16 MiB: small enough that an idle cluster uses little disk and that filling a new
    /// one with zeros takes some ten milliseconds, large enough that a new file is rare.
    #[must_use]
    pub fn new(directory_id: [u8; 16]) -> Self {
        Self {
            directory_id,
            segment_bytes: 16 << 20,
            queue_bytes_max: 16 << 20,
            batch_bytes_max: 4 << 20,
            cache_bytes_max: 32 << 20,
        }
    }
}

#[cfg(test)]
mod tests;
