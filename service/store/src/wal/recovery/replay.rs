//! Decodes the bytes of a segment into batches, and applies batches to the index of entries.

use bytes::Bytes;

use super::super::appender::End;
use super::super::entries::{Entries, RecordPlace};
use super::super::layout::{
    BATCH_HEADER_LENGTH, BadRecord, BatchHeader, BatchPosition, RECORD_HEADER_LENGTH, Record,
};
use crate::log_id::LogId;

/// What is at an offset of a segment.
#[derive(Debug)]
pub(super) enum Batch {
    /// A whole batch.
    Good {
        header: BatchHeader,
        records: Vec<(Record, RecordPlace)>,
        end: u64,
        chain: u32,
    },
    /// Nothing but zeros up to the end of the file.
    Nothing,
    /// Bytes that are not a whole batch.
    Broken(Broken),
    /// A batch with valid checksums whose content cannot be right.
    Nonsense { offset: u64, what: &'static str },
}

/// A batch that is not what was written, or was not written completely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken {
    /// Where the batch should begin.
    pub(super) offset: u64,
    /// The end of the write that produced it, if its header can be read.
    pub(super) write_end: Option<u64>,
    /// The first broken frame in it.
    pub(super) frame: Frame,
    pub(super) what: &'static str,
}

/// A header alone, or a record with its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    pub(super) start: u64,
    /// The end of the frame's own header.
    pub(super) header_end: u64,
    /// The end of the frame, as far as its header can be trusted.
    pub(super) end: u64,
}

/// Reads the batch at `place`, which must continue the log that ends with `sequence` and `chain`.
pub(super) fn read_batch(
    segment: &Bytes,
    place: &BatchPosition,
    sequence: u64,
    chain: u32,
) -> Batch {
    let start = usize::try_from(place.offset)
        .unwrap_or(usize::MAX)
        .min(segment.len());
    let rest = segment.slice(start..);
    let Some((header, chain_of_header)) = BatchHeader::decode(&rest, place) else {
        return not_a_header(&rest, place.offset);
    };
    if header.sequence != sequence + 1 || header.chain != chain || header.durable >= header.sequence
    {
        return Batch::Nonsense {
            offset: place.offset,
            what: "the batch does not continue the one before it",
        };
    }
    match read_records(&rest, place, &header, chain_of_header) {
        Ok((records, _)) if records.len() != header.record_count as usize => Batch::Nonsense {
            offset: place.offset,
            what: "the batch has not as many records as it says",
        },
        Ok((records, chain)) => Batch::Good {
            end: place.offset + length_of(&header) as u64,
            header,
            records,
            chain,
        },
        Err(bad) => bad,
    }
}

fn length_of(header: &BatchHeader) -> usize {
    BATCH_HEADER_LENGTH + header.body_length as usize
}

fn not_a_header(rest: &[u8], offset: u64) -> Batch {
    if rest.iter().all(|byte| *byte == 0) {
        return Batch::Nothing;
    }
    let header_end = offset + BATCH_HEADER_LENGTH as u64;
    let frame = Frame {
        start: offset,
        header_end,
        end: header_end,
    };
    Batch::Broken(Broken {
        offset,
        write_end: None,
        frame,
        what: "the batch header is not readable",
    })
}

/// Records with their places, and the chain at the end of the last.
type Records = (Vec<(Record, RecordPlace)>, u32);

/// Reads the records of the batch at the start of `batch`, or returns why it is not whole.
fn read_records(
    batch: &Bytes,
    place: &BatchPosition,
    header: &BatchHeader,
    mut chain: u32,
) -> Result<Records, Batch> {
    let length = length_of(header);
    let write_end = place.offset + length as u64;
    let body = batch.slice(..length.min(batch.len()));
    let mut records = Vec::new();
    let mut at = BATCH_HEADER_LENGTH;
    while at < length {
        let offset = place.offset + at as u64;
        let left = body.slice(at.min(body.len())..);
        let (record, record_length, next) =
            Record::decode(&left, chain).map_err(|bad| match bad {
                BadRecord::Nonsense(what) => Batch::Nonsense { offset, what },
                BadRecord::Broken(what) => Batch::Broken(Broken {
                    offset: place.offset,
                    write_end: Some(write_end),
                    frame: record_frame(&left, offset, write_end),
                    what,
                }),
            })?;
        let record_place = RecordPlace {
            segment: place.segment,
            offset,
            length: u32::try_from(record_length).unwrap_or(u32::MAX),
            chain,
        };
        records.push((record, record_place));
        at += record_length;
        chain = next;
    }
    Ok((records, chain))
}

/// The extent of a broken record, as far as its header can be trusted.
fn record_frame(bytes: &[u8], start: u64, write_end: u64) -> Frame {
    let header_end = (start + RECORD_HEADER_LENGTH as u64).min(write_end);
    let length = bytes
        .first_chunk()
        .map_or(0, |length| u32::from_le_bytes(*length));
    let end = header_end.saturating_add(u64::from(length)).min(write_end);
    Frame {
        start,
        header_end,
        end,
    }
}

/// Applies a batch to the index of entries, or returns why it cannot follow the ones before.
pub(super) fn apply(
    entries: &mut Entries,
    end: &mut End,
    records: Vec<(Record, RecordPlace)>,
) -> Result<(), (u64, &'static str)> {
    for (record, place) in records {
        if let Some(what) = check(entries, &record) {
            return Err((place.offset, what));
        }
        end.summary.add(&record);
        match record {
            Record::Entry(id, _) => entries.append_written(id, place),
            Record::TruncateAfter(last) => entries.truncate_after(last),
            Record::Purged(id) => entries.purge(id),
            Record::Committed(id) => entries.commit(id),
        }
    }
    Ok(())
}

/// Returns what is wrong with a record at this point of the log, if anything is.
fn check(entries: &Entries, record: &Record) -> Option<&'static str> {
    let purged = entries.summary().purged;
    let (right, what) = match record {
        Record::Entry(id, _) => (
            id.index == entries.next(),
            "the entry does not follow the one before it",
        ),
        Record::TruncateAfter(None) => (purged.is_none(), "purged entries cannot be truncated"),
        Record::TruncateAfter(Some(id)) => (
            can_truncate(entries, *id),
            "the log cannot be truncated to an entry it does not hold",
        ),
        Record::Purged(id) => (
            purged.is_none_or(|purged| purged.index < id.index),
            "the log was purged further than that already",
        ),
        Record::Committed(_) => (true, ""),
    };
    if right { None } else { Some(what) }
}

fn can_truncate(entries: &Entries, id: LogId) -> bool {
    if id.index >= entries.next() {
        return false;
    }
    match entries.log_id(id.index) {
        Some(held) => held == id,
        // Its segment is gone, which a later purge must explain.
        None => entries
            .summary()
            .purged
            .is_none_or(|purged| purged.index < id.index),
    }
}
