//! The bytes of a segment: its header, the header of a batch, and the records in a batch.
//!
//! [`wal`](super) has the tables. Decoding trusts a length before its checksum is verified only to
//! find that checksum, and never reads outside the slice it is given.

use bytes::{Buf, BufMut, Bytes};

use crate::log_id::LogId;
use crate::{FORMAT_VERSION, MIN_READER_VERSION};

pub(super) const SEGMENT_HEADER_LENGTH: usize = 144;
pub(super) const BATCH_HEADER_LENGTH: usize = 36;
pub(super) const RECORD_HEADER_LENGTH: usize = 12;
/// The bytes of an entry's record beyond its payload.
pub(super) const ENTRY_OVERHEAD: usize = RECORD_HEADER_LENGTH + LogId::LENGTH;

const SEGMENT_MAGIC: &[u8; 8] = b"SYNODWAL";
/// The bytes are not text, so no payload of text contains them.
const BATCH_MAGIC: u32 = 0xB47C_51A0;

/// Counters start at 0 or 1 and go up by one. No log lives long enough to reach this value.
const COUNTER_MAX: u64 = u64::MAX / 2;

const FLAG_PURGED: u32 = 1;
const FLAG_LAST: u32 = 2;
const FLAG_COMMITTED: u32 = 4;

const KIND_ENTRY: u8 = 1;
const KIND_TRUNCATE_AFTER: u8 = 2;
const KIND_PURGED: u8 = 3;
const KIND_COMMITTED: u8 = 4;

/// The sum of all records up to some point, apart from the entries themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Summary {
    /// The last entry that was purged.
    pub(super) purged: Option<LogId>,
    /// The last entry, or the last purged one if no entry follows.
    pub(super) last: Option<LogId>,
    /// The last entry known to be committed.
    pub(super) committed: Option<LogId>,
}

impl Summary {
    /// Adds one more record.
    pub(super) fn add(&mut self, record: &Record) {
        match record {
            Record::Entry(id, _) => self.last = Some(*id),
            Record::TruncateAfter(last) => self.last = *last,
            Record::Purged(id) => {
                self.purged = Some(*id);
                if self.last.is_none_or(|last| last.index < id.index) {
                    self.last = Some(*id);
                }
            }
            Record::Committed(id) => self.committed = Some(*id),
        }
    }
}

/// The first bytes of every segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SegmentHeader {
    /// The id of the data directory the log belongs to.
    pub(super) directory_id: [u8; 16],
    pub(super) number: u64,
    /// The sequence of the first batch in this segment; all before it are durable in earlier ones.
    pub(super) first_sequence: u64,
    /// The chain at the end of the previous segment.
    pub(super) chain: u32,
    /// The summary of the records of all earlier segments, because those segments may be gone.
    pub(super) before: Summary,
}

/// The reason why bytes are not a segment header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BadHeader {
    Newer { found: u32 },
    Broken(&'static str),
}

impl SegmentHeader {
    /// Appends the header and returns the chain that the first batch continues.
    pub(super) fn encode(&self, into: &mut Vec<u8>) -> u32 {
        let start = into.len();
        let Summary {
            purged,
            last,
            committed,
        } = self.before;
        let flag = |id: Option<LogId>, flag| if id.is_some() { flag } else { 0 };
        into.put_slice(SEGMENT_MAGIC);
        into.put_u32_le(FORMAT_VERSION);
        into.put_u32_le(MIN_READER_VERSION);
        into.put_slice(&self.directory_id);
        into.put_u64_le(self.number);
        into.put_u64_le(self.first_sequence);
        into.put_u32_le(self.chain);
        into.put_u32_le(
            flag(purged, FLAG_PURGED) | flag(last, FLAG_LAST) | flag(committed, FLAG_COMMITTED),
        );
        for id in [purged, last, committed] {
            id.unwrap_or(LogId {
                term: 0,
                leader: 0,
                index: 0,
            })
            .encode(into);
        }
        into.put_bytes(0, SEGMENT_HEADER_LENGTH - 4 - (into.len() - start));
        let checksum = crc32c::crc32c(&into[start..]);
        into.put_u32_le(checksum);
        checksum
    }

    /// Reads a header and returns it with the chain that the first batch continues.
    pub(super) fn decode(segment: &[u8]) -> Result<(Self, u32), BadHeader> {
        // The version is checked before the checksum: a newer format may place that elsewhere.
        if segment.get(..8).is_some_and(|magic| magic == SEGMENT_MAGIC)
            && let Some(mut versions) = segment.get(8..16)
        {
            let found = versions.get_u32_le();
            if versions.get_u32_le() > FORMAT_VERSION {
                return Err(BadHeader::Newer { found });
            }
        }
        let header = segment
            .get(..SEGMENT_HEADER_LENGTH)
            .ok_or(BadHeader::Broken("the file ends within the segment header"))?;
        let (covered, mut checksum) = header.split_at(SEGMENT_HEADER_LENGTH - 4);
        let checksum = checksum.get_u32_le();
        if crc32c::crc32c(covered) != checksum {
            return Err(BadHeader::Broken(
                "the checksum of the segment header does not match",
            ));
        }
        if &covered[..8] != SEGMENT_MAGIC {
            return Err(BadHeader::Broken("it does not begin like a segment"));
        }
        let header = Self::decode_fields(&covered[16..]).ok_or(BadHeader::Broken(
            "the segment header has an impossible log id",
        ))?;
        if !(1..COUNTER_MAX).contains(&header.number)
            || !(1..COUNTER_MAX).contains(&header.first_sequence)
        {
            return Err(BadHeader::Broken(
                "the segment header has an impossible number",
            ));
        }
        Ok((header, checksum))
    }

    fn decode_fields(mut fields: &[u8]) -> Option<Self> {
        let mut directory_id = [0; 16];
        fields.try_copy_to_slice(&mut directory_id).ok()?;
        let number = fields.try_get_u64_le().ok()?;
        let first_sequence = fields.try_get_u64_le().ok()?;
        let chain = fields.try_get_u32_le().ok()?;
        let flags = fields.try_get_u32_le().ok()?;
        let mut id = |flag| {
            let id = LogId::decode(&mut fields)?;
            Some(if flags & flag == 0 { None } else { Some(id) })
        };
        let before = Summary {
            purged: id(FLAG_PURGED)?,
            last: id(FLAG_LAST)?,
            committed: id(FLAG_COMMITTED)?,
        };
        Some(Self {
            directory_id,
            number,
            first_sequence,
            chain,
            before,
        })
    }
}

/// The log and the place of a batch. A batch header is valid only there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BatchPosition {
    pub(super) directory_id: [u8; 16],
    pub(super) segment: u64,
    pub(super) offset: u64,
}

impl BatchPosition {
    fn seed(&self) -> u32 {
        let mut seed = crc32c::crc32c(&self.directory_id);
        seed = crc32c::crc32c_append(seed, &self.segment.to_le_bytes());
        crc32c::crc32c_append(seed, &self.offset.to_le_bytes())
    }
}

/// The first bytes of every batch. One write writes one batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BatchHeader {
    /// The length of the records that follow, in bytes; 0 for a mark.
    pub(super) body_length: u32,
    pub(super) record_count: u32,
    /// Counts batches from 1 through all segments.
    pub(super) sequence: u64,
    /// All batches up to this one were durable before this one was written.
    pub(super) durable: u64,
    /// The chain at the end of the previous batch.
    pub(super) chain: u32,
}

impl BatchHeader {
    /// Appends the header and returns the chain that the first record continues.
    pub(super) fn encode(&self, place: &BatchPosition, into: &mut Vec<u8>) -> u32 {
        let start = into.len();
        into.put_u32_le(BATCH_MAGIC);
        into.put_u32_le(self.body_length);
        into.put_u32_le(self.record_count);
        into.put_u64_le(self.sequence);
        into.put_u64_le(self.durable);
        into.put_u32_le(self.chain);
        let checksum = crc32c::crc32c_append(place.seed(), &into[start..]);
        into.put_u32_le(checksum);
        checksum
    }

    /// Reads the header at the beginning of `bytes`, which are at `place`.
    ///
    /// Returns the header with the chain that the first record continues, or `None` if it is not a
    /// header that was written to this place.
    pub(super) fn decode(bytes: &[u8], place: &BatchPosition) -> Option<(Self, u32)> {
        let (covered, mut checksum) = bytes
            .get(..BATCH_HEADER_LENGTH)?
            .split_at(BATCH_HEADER_LENGTH - 4);
        let mut fields = covered;
        if fields.get_u32_le() != BATCH_MAGIC {
            return None;
        }
        let checksum = checksum.get_u32_le();
        if crc32c::crc32c_append(place.seed(), covered) != checksum {
            return None;
        }
        let header = Self {
            body_length: fields.get_u32_le(),
            record_count: fields.get_u32_le(),
            sequence: fields.get_u64_le(),
            durable: fields.get_u64_le(),
            chain: fields.get_u32_le(),
        };
        Some((header, checksum))
    }
}

/// One change of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Record {
    /// An entry was appended.
    Entry(LogId, Bytes),
    /// Everything after this entry was removed; all entries, if `None`.
    TruncateAfter(Option<LogId>),
    /// Everything up to this entry was purged.
    Purged(LogId),
    /// Everything up to this entry is committed.
    Committed(LogId),
}

impl Record {
    fn kind(&self) -> u8 {
        match self {
            Self::Entry(..) => KIND_ENTRY,
            Self::TruncateAfter(_) => KIND_TRUNCATE_AFTER,
            Self::Purged(_) => KIND_PURGED,
            Self::Committed(_) => KIND_COMMITTED,
        }
    }

    fn content_length(&self) -> usize {
        match self {
            Self::Entry(_, payload) => LogId::LENGTH + payload.len(),
            Self::TruncateAfter(None) => 0,
            Self::TruncateAfter(Some(_)) | Self::Purged(_) | Self::Committed(_) => LogId::LENGTH,
        }
    }

    /// The index, if this is an entry.
    pub(super) fn entry_index(&self) -> Option<u64> {
        match self {
            Self::Entry(id, _) => Some(id.index),
            Self::TruncateAfter(_) | Self::Purged(_) | Self::Committed(_) => None,
        }
    }

    /// The encoded length in bytes, header included.
    pub(super) fn length(&self) -> usize {
        RECORD_HEADER_LENGTH + self.content_length()
    }

    /// Appends the record and returns the chain that the next one continues.
    pub(super) fn encode(&self, chain: u32, into: &mut Vec<u8>) -> u32 {
        let start = into.len();
        let length = u32::try_from(self.content_length())
            .expect("enqueueing refuses what is longer than a record can be");
        into.put_u32_le(length);
        into.put_u32_le(u32::from(self.kind()));
        into.put_u32_le(0);
        match self {
            Self::Entry(id, payload) => {
                id.encode(into);
                into.put_slice(payload);
            }
            Self::TruncateAfter(None) => {}
            Self::TruncateAfter(Some(id)) | Self::Purged(id) | Self::Committed(id) => {
                id.encode(into)
            }
        }
        let checksum = checksum_of_record(chain, &into[start..]);
        into[start + 8..start + RECORD_HEADER_LENGTH].copy_from_slice(&checksum.to_le_bytes());
        checksum
    }

    /// Reads the record at the beginning of `bytes`; the payload shares their memory.
    ///
    /// Returns the record with its length and the chain that the next one continues.
    pub(super) fn decode(bytes: &Bytes, chain: u32) -> Result<(Self, usize, u32), BadRecord> {
        let mut header = bytes
            .get(..RECORD_HEADER_LENGTH)
            .ok_or(BadRecord::Broken("the batch ends within a record header"))?;
        let length = RECORD_HEADER_LENGTH.saturating_add(header.get_u32_le() as usize);
        let kind = header.get_u32_le();
        let checksum = header.get_u32_le();
        let record = bytes.get(..length).ok_or(BadRecord::Broken(
            "a record is longer than what is left of its batch",
        ))?;
        if checksum_of_record(chain, record) != checksum {
            return Err(BadRecord::Broken("the checksum of a record does not match"));
        }
        let record = Self::decode_content(kind, bytes.slice(RECORD_HEADER_LENGTH..length))
            .map_err(BadRecord::Nonsense)?;
        Ok((record, length, checksum))
    }

    fn decode_content(kind: u32, mut content: Bytes) -> Result<Self, &'static str> {
        if kind == u32::from(KIND_TRUNCATE_AFTER) && content.is_empty() {
            return Ok(Self::TruncateAfter(None));
        }
        let id = LogId::decode(&mut content).ok_or("a record has no possible log id")?;
        let record = match u8::try_from(kind) {
            Ok(KIND_ENTRY) => return Ok(Self::Entry(id, content)),
            Ok(KIND_TRUNCATE_AFTER) => Self::TruncateAfter(Some(id)),
            Ok(KIND_PURGED) => Self::Purged(id),
            Ok(KIND_COMMITTED) => Self::Committed(id),
            _ => return Err("a record is of an unknown kind"),
        };
        if content.is_empty() {
            Ok(record)
        } else {
            Err("a record has more than its kind has")
        }
    }
}

/// The reason why bytes are not a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BadRecord {
    /// The bytes are not what was written, or were not written completely.
    Broken(&'static str),
    /// The bytes are what was written, but mean nothing to this build.
    Nonsense(&'static str),
}

impl BadRecord {
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Broken(what) | Self::Nonsense(what) => what,
        }
    }
}

/// The checksum covers the whole record except the checksum itself, which is in the middle.
fn checksum_of_record(chain: u32, record: &[u8]) -> u32 {
    let (length_and_kind, rest) = record.split_at(8);
    let content = &rest[RECORD_HEADER_LENGTH - 8..];
    crc32c::crc32c_append(crc32c::crc32c_append(chain, length_and_kind), content)
}
