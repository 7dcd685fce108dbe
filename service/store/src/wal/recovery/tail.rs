//! Tells the torn end of an unfinished write from damage to acknowledged entries.

use bytes::{Buf as _, Bytes};

use super::super::layout::{BATCH_HEADER_LENGTH, BatchHeader, BatchPosition, RECORD_HEADER_LENGTH};
use super::replay::{Broken, Frame};
use crate::disk::SECTOR_BYTES;
use crate::log_id::LogId;

/// Returns the proof that a broken batch at the end of the log was once durable, if there is one.
///
/// `sequence` is that of the broken batch.
pub(super) fn proof_of_durability(
    segment: &Bytes,
    place: &BatchPosition,
    broken: &Broken,
    sequence: u64,
) -> Option<String> {
    if let Some(proof) = later_batch(segment, place, broken.offset + 1, sequence) {
        return Some(format!(
            "the batch at offset {proof} was written after this one had been reported durable"
        ));
    }
    // One write is in flight at a time, so bytes after the end of this write are of a later one.
    let beyond = broken.write_end?;
    first_non_zero(segment, beyond).map(|offset| {
        format!(
            "the bytes at offset {offset} were written after this batch had been reported durable"
        )
    })
}

/// Finds a batch whose header says that `sequence` was durable when it was written.
///
/// No other bytes can pass as one: the checksum of a batch header is seeded with the id of the directory and with the
/// place of the header.
fn later_batch(segment: &Bytes, place: &BatchPosition, from: u64, sequence: u64) -> Option<u64> {
    let last = (segment.len() as u64).checked_sub(BATCH_HEADER_LENGTH as u64)?;
    (from..=last).find(|offset| {
        let bytes = &segment[usize::try_from(*offset).unwrap_or(usize::MAX)..];
        BatchHeader::decode(
            bytes,
            &BatchPosition {
                offset: *offset,
                ..*place
            },
        )
        .is_some_and(|(header, _)| header.durable >= sequence)
    })
}

/// The most entries in a broken batch: of the records that its header tells of, all but those that are surely something else.
/// Without a readable header, those that stand in it if they add up, else [`u64::MAX`].
///
/// `batch` goes on to the end of the segment; `length` is that of what is not zero.
pub(super) fn entries_max(batch: &Bytes, length: usize, place: &BatchPosition) -> u64 {
    let entries_in = |lengths: Vec<usize>| {
        // An entry has a payload: the number of its variant at least (`crate::payload`). Other records have none.
        let with_payload = lengths.iter().filter(|length| **length > LogId::LENGTH);
        with_payload.count() as u64
    };
    let Some((header, _)) = BatchHeader::decode(batch, place) else {
        let rest = batch.get(BATCH_HEADER_LENGTH..).unwrap_or_default();
        let lengths = content_lengths(rest, length.saturating_sub(BATCH_HEADER_LENGTH));
        return lengths.map_or(u64::MAX, entries_in);
    };
    let records_max = header.record_count as usize;
    let end = BATCH_HEADER_LENGTH.saturating_add(header.body_length as usize);
    let records = batch.get(BATCH_HEADER_LENGTH..end);
    let lengths = records.and_then(|records| content_lengths(records, records.len()));
    let lengths = lengths.filter(|lengths| lengths.len() == records_max);
    lengths.map_or(records_max as u64, entries_in)
}

/// The lengths of the contents of the records that fill the first `length` bytes, of which the last may end later, by zeros. `None` if
/// they do not add up, so that one is damaged.
fn content_lengths(mut records: &[u8], length: usize) -> Option<Vec<usize>> {
    let behind = records.len().checked_sub(length)?;
    let mut lengths = Vec::new();
    while records.len() > behind {
        let mut header = records.get(..RECORD_HEADER_LENGTH)?;
        let length = header.get_u32_le() as usize;
        records = records.get(RECORD_HEADER_LENGTH.checked_add(length)?..)?;
        lengths.push(length);
    }
    Some(lengths)
}

/// Returns the offset of the first byte at or after `from` that is not zero.
pub(super) fn first_non_zero(segment: &[u8], from: u64) -> Option<u64> {
    let from = usize::try_from(from)
        .unwrap_or(usize::MAX)
        .min(segment.len());
    let position = segment[from..].iter().position(|byte| *byte != 0)?;
    Some((from + position) as u64)
}

/// Returns the offset after the last byte that is not zero.
pub(super) fn end_of_content(segment: &[u8]) -> u64 {
    segment
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |position| position as u64 + 1)
}

/// Whether a torn write explains the broken batch.
///
/// A device keeps or loses whole sectors, and the file was zeros before. So if a torn write left out a sector,
/// everything from the beginning of the write, or of the sector, up to the end of the sector reads as zeros. A broken
/// frame that touches no such sector was written completely, and was changed afterwards.
pub(super) fn has_unwritten_sector(segment: &[u8], broken: &Broken) -> bool {
    let Frame {
        start,
        header_end,
        end,
    } = broken.frame;
    // A header that straddles two sectors may have lost the half with the length of the frame.
    let mut sectors = start / SECTOR_BYTES..end.max(header_end).div_ceil(SECTOR_BYTES);
    sectors.any(|sector| {
        let from = (sector * SECTOR_BYTES).max(broken.offset);
        // Bytes beyond the end of the file were not written either.
        first_non_zero(segment, from).is_none_or(|found| found >= (sector + 1) * SECTOR_BYTES)
    })
}
