//! The bytes of a backup; [`backup`](super) has the tables.

use super::BACKUP_CHUNK_BYTES_MAX;

pub(super) const MAGIC: &[u8; 8] = b"SYNODBKP";
pub(super) const CHECKSUM_LENGTH: usize = 4;
/// The length of the header before its content.
pub(super) const HEADER_FIXED_LENGTH: usize = 20;
/// The most bytes of the header's content: two short texts, an id and numbers.
pub(super) const HEADER_BYTES_MAX: usize = 4 << 10;
pub(super) const PREFIX_LENGTH: usize = 8;
pub(super) const SHA256_LENGTH: usize = 32;
pub(super) const TRAILER_LENGTH: usize = 8 + SHA256_LENGTH;

const KIND_CHUNK: u32 = 1;
const KIND_TRAILER: u32 = 2;

/// What follows the prefix of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    /// A chunk of this length.
    Chunk(usize),
    Trailer,
}

pub(super) fn chunk_prefix(length: usize) -> [u8; PREFIX_LENGTH] {
    prefix(length, KIND_CHUNK)
}

pub(super) fn trailer_prefix() -> [u8; PREFIX_LENGTH] {
    prefix(TRAILER_LENGTH, KIND_TRAILER)
}

pub(super) fn read_prefix(prefix: [u8; PREFIX_LENGTH]) -> Result<Frame, &'static str> {
    let [length, kind] = [number(&prefix, 0), number(&prefix, 4)];
    let length = length as usize;
    match kind {
        KIND_CHUNK if (1..=BACKUP_CHUNK_BYTES_MAX).contains(&length) => Ok(Frame::Chunk(length)),
        KIND_CHUNK => Err("a chunk has an impossible length"),
        KIND_TRAILER if length == TRAILER_LENGTH => Ok(Frame::Trailer),
        KIND_TRAILER => Err("the trailer has an impossible length"),
        _ => Err("neither a chunk nor the trailer begins here"),
    }
}

/// The number of four bytes at this place.
pub(super) fn number(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_le_bytes(bytes.expect("these are four bytes"))
}

fn prefix(length: usize, kind: u32) -> [u8; PREFIX_LENGTH] {
    let length = u32::try_from(length).expect("the caller has checked the length");
    let mut prefix = [0; PREFIX_LENGTH];
    prefix[..4].copy_from_slice(&length.to_le_bytes());
    prefix[4..].copy_from_slice(&kind.to_le_bytes());
    prefix
}
