//! The log of a replica: segments of batches of records, one write and one sync for each batch.

mod appender;
mod chores;
mod entries;
mod error;
mod flush;
mod layout;
mod log;
mod names;
mod queue;
mod read;
mod recovery;
mod shared;
mod writer;

pub use error::{LogError, OpenError};
pub use log::Log;
pub use queue::Done;
pub use recovery::{Recovery, TailCut};
pub use writer::LogWriter;

/// The longest payload of one entry, in bytes.
///
/// Far above what a leader proposes (an entry is capped at 1 MiB or one command), so that a limit set
/// elsewhere is met first.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// The most that one [`Log::enqueue_append`] takes, in bytes: what a batch length can express, and more
/// than anybody should hold in memory.
pub const APPEND_BYTES_MAX: usize = 1 << 30;

/// Sizes of a log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogConfig {
    /// The id of the data directory; segments of another one are refused.
    pub directory_id: [u8; 16],
    /// The length of a segment, in bytes. A longer batch gets a longer segment.
    pub segment_bytes: u64,
    /// How much may wait to be written, in bytes, before [`Log::enqueue_append`] answers
    /// [`LogError::Full`]. The append that crosses the bound is still taken.
    pub queue_bytes_max: usize,
    /// How much goes into one batch at most, in bytes, unless one append alone is longer.
    pub batch_bytes_max: usize,
    /// How much of the newest entries is kept in memory, in bytes of payload. Entries that are not
    /// written yet are kept in any case.
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
