//! Tells the torn end of an unfinished write from damage to acknowledged entries.

use bytes::Bytes;

use super::super::layout::{BATCH_HEADER_LENGTH, BatchHeader, BatchPosition};
use super::replay::{Broken, Frame};
use crate::disk::SECTOR_BYTES;

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
