//! The position of an entry in the replicated log, and the entry itself.

use std::fmt;

use bytes::{Buf, BufMut, Bytes};

/// The position of an entry: its term, the leader that wrote it, and its index.
///
/// Ordered by term, then leader, then index, as Raft compares the ends of two logs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LogId {
    /// The term in which a leader wrote the entry.
    pub term: u64,
    /// The replica id of that leader.
    pub leader: u64,
    /// The index of the entry; the first entry of a log has index 0.
    pub index: u64,
}

impl LogId {
    /// The highest valid index. Indexes go up by one and never reach it. It is far below
    /// [`u64::MAX`], so that sums of indexes do not overflow, whatever a damaged file contains.
    pub const INDEX_MAX: u64 = u64::MAX / 2;

    /// The length of an encoded log id, in bytes.
    pub(crate) const LENGTH: usize = 24;

    pub(crate) fn encode(&self, into: &mut impl BufMut) {
        into.put_u64_le(self.term);
        into.put_u64_le(self.leader);
        into.put_u64_le(self.index);
    }

    /// Reads a log id; `None` if there are too few bytes, or the index is impossible.
    pub(crate) fn decode(from: &mut impl Buf) -> Option<Self> {
        let id = Self {
            term: from.try_get_u64_le().ok()?,
            leader: from.try_get_u64_le().ok()?,
            index: from.try_get_u64_le().ok()?,
        };
        (id.index <= Self::INDEX_MAX).then_some(id)
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "index {} of term {} by replica {}",
            self.index, self.term, self.leader
        )
    }
}

/// One entry of the log. The log does not interpret the payload: see [`crate::payload`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    /// The position of the entry.
    pub id: LogId,
    /// The content, opaque.
    pub payload: Bytes,
}
