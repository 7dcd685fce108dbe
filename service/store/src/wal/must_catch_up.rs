//! The note on the disk that acknowledged entries may be missing at the end of the log, and how far they went at most.

use std::path::Path;

use super::names;
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;
use crate::replace::replace_file;

/// The most that the end of a log held which was cut off: no entry of a later leadership, and none of a higher index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostEnd(pub LogId);

impl LostEnd {
    /// Nothing is known of what was lost, and no log is known to have all of it.
    pub const UNKNOWN: Self = Self(LogId {
        term: u64::MAX,
        leader: u64::MAX,
        index: u64::MAX,
    });

    /// Whether a log with this last entry has all committed entries that were lost.
    ///
    /// A later leader was elected by a majority, of which each that had acknowledged the lost entries had them then, or did not vote.
    /// So the log of such a leader has those that were committed, and so has one with an entry of it.
    pub fn is_held_by(self, last: Option<LogId>) -> bool {
        last.is_some_and(|last| last >= self.0)
    }

    /// The most that two ends held, which were cut off one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(LogId {
            index: self.0.index.max(other.0.index),
            ..self.0.max(other.0)
        })
    }

    pub(super) fn encode(self) -> String {
        let LogId {
            term,
            leader,
            index,
        } = self.0;
        let text = format!("{term} {leader} {index}");
        format!("{text} {:08x}\n", crc32c::crc32c(text.as_bytes()))
    }

    fn decode(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.strip_suffix('\n')?;
        let (numbers, checksum) = text.rsplit_once(' ')?;
        if checksum != format!("{:08x}", crc32c::crc32c(numbers.as_bytes())) {
            return None;
        }
        let mut numbers = numbers.split(' ').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self(LogId {
            term: next()?,
            leader: next()?,
            index: next()?,
        }))
    }
}

/// Reads the note of a log's directory. [`LostEnd::UNKNOWN`] if it says nothing.
pub(super) fn read(disk: &dyn Disk, directory: &Path) -> Result<LostEnd, IoFailure> {
    let path = directory.join(names::MUST_CATCH_UP);
    let text = disk
        .read(&path)
        .map_err(IoFailure::while_doing("read", &path))?;
    Ok(LostEnd::decode(&text).unwrap_or(LostEnd::UNKNOWN))
}

/// Writes the note durably.
pub(super) fn write(disk: &dyn Disk, directory: &Path, lost: LostEnd) -> Result<(), IoFailure> {
    replace_file(
        disk,
        directory,
        names::MUST_CATCH_UP,
        lost.encode().as_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_back_and_a_damaged_one_says_nothing() {
        let lost = LostEnd(LogId {
            term: 7,
            leader: 2,
            index: 1 << 40,
        });
        let text = lost.encode();
        assert_eq!(LostEnd::decode(text.as_bytes()), Some(lost));
        for place in 0..text.len() {
            let mut damaged = text.clone().into_bytes();
            damaged[place] ^= 1;
            assert_eq!(LostEnd::decode(&damaged), None, "damage at {place}");
        }
        assert_eq!(LostEnd::decode(b""), None);
    }

    #[test]
    fn a_log_of_a_later_leader_or_of_as_many_entries_holds_what_was_lost() {
        let lost = LostEnd(LogId {
            term: 5,
            leader: 1,
            index: 10,
        });
        let ends_at = |term, index| {
            Some(LogId {
                term,
                leader: 1,
                index,
            })
        };
        for (last, is_held) in [
            (None, false),
            (ends_at(5, 9), false),
            (ends_at(5, 10), true),
            (ends_at(6, 8), true),
            (ends_at(4, 11), false),
            (ends_at(u64::MAX - 1, u64::MAX), true),
        ] {
            assert_eq!(lost.is_held_by(last), is_held, "{last:?}");
            assert!(!LostEnd::UNKNOWN.is_held_by(last));
        }
    }
}
