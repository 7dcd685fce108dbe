//! Encodes and decodes the bytes of a checkpoint file; [`checkpoint`](super) has the tables.

use bytes::{Buf, BufMut, Bytes, TryGetError};

use super::{CheckpointHeader, META_BYTES_MAX};
use crate::log_id::LogId;
use crate::{FORMAT_VERSION, MIN_READER_VERSION};

pub(super) const CHECKSUM_LENGTH: usize = 4;
/// The length of the header before the metadata.
pub(super) const HEADER_FIXED_LENGTH: usize = 60;
/// The length and kind before the content of a chunk or trailer.
pub(super) const FRAME_PREFIX_LENGTH: usize = 8;
pub(super) const TRAILER_CONTENT_LENGTH: usize = 16;

const MAGIC: &[u8; 8] = b"SYNODCKP";
const KIND_CHUNK: u32 = 1;
const KIND_TRAILER: u32 = 2;

/// The reason why bytes are not the fixed part of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BadHeader {
    Newer { found: u32 },
    Broken(&'static str),
}

/// The kind of content after the prefix of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrameKind {
    Chunk,
    Trailer,
}

/// The totals over all chunks of a file, as in the trailer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Totals {
    pub(super) chunks: u64,
    pub(super) bytes: u64,
}

pub(super) fn encode_header(header: &CheckpointHeader, into: &mut Vec<u8>) {
    into.put_slice(MAGIC);
    into.put_u32_le(FORMAT_VERSION);
    into.put_u32_le(MIN_READER_VERSION);
    into.put_slice(&header.cluster_id);
    header.last.encode(into);
    into.put_u32_le(u32::try_from(header.meta.len()).expect("the caller has checked the length"));
    into.put_slice(&header.meta);
}

/// Reads the fixed part of a header. Returns it without metadata, and the length of the metadata.
pub(super) fn decode_header(fixed: &[u8]) -> Result<(CheckpointHeader, usize), BadHeader> {
    if fixed.get(..8).is_none_or(|magic| magic != MAGIC) {
        return Err(BadHeader::Broken("it does not begin like a checkpoint"));
    }
    let short = |_: TryGetError| BadHeader::Broken("the file ends within the header");
    let mut fields = &fixed[8..];
    let found = fields.try_get_u32_le().map_err(short)?;
    // The version is checked first: a newer format may differ from here on.
    if fields.try_get_u32_le().map_err(short)? > FORMAT_VERSION {
        return Err(BadHeader::Newer { found });
    }
    let mut cluster_id = [0; 16];
    fields.try_copy_to_slice(&mut cluster_id).map_err(short)?;
    let last = LogId::decode(&mut fields)
        .ok_or(BadHeader::Broken("the header has an impossible log id"))?;
    let meta_length = fields.try_get_u32_le().map_err(short)? as usize;
    if meta_length > META_BYTES_MAX {
        return Err(BadHeader::Broken("the metadata is longer than it can be"));
    }
    Ok((
        CheckpointHeader {
            cluster_id,
            last,
            meta: Bytes::new(),
        },
        meta_length,
    ))
}

pub(super) fn chunk_prefix(length: usize) -> [u8; FRAME_PREFIX_LENGTH] {
    prefix(length, KIND_CHUNK)
}

pub(super) fn encode_trailer(totals: &Totals, into: &mut Vec<u8>) {
    into.put_slice(&prefix(TRAILER_CONTENT_LENGTH, KIND_TRAILER));
    into.put_u64_le(totals.chunks);
    into.put_u64_le(totals.bytes);
}

pub(super) fn decode_totals(mut content: &[u8]) -> Result<Totals, TryGetError> {
    Ok(Totals {
        chunks: content.try_get_u64_le()?,
        bytes: content.try_get_u64_le()?,
    })
}

/// Reads the prefix of a frame; returns its kind and the length of its content.
pub(super) fn decode_prefix(
    prefix: [u8; FRAME_PREFIX_LENGTH],
    chunk_bytes_max: usize,
) -> Result<(FrameKind, usize), &'static str> {
    let mut fields = &prefix[..];
    let length = fields.get_u32_le() as usize;
    match fields.get_u32_le() {
        KIND_CHUNK if (1..=chunk_bytes_max).contains(&length) => Ok((FrameKind::Chunk, length)),
        KIND_CHUNK => Err("a chunk has an impossible length"),
        KIND_TRAILER if length == TRAILER_CONTENT_LENGTH => Ok((FrameKind::Trailer, length)),
        KIND_TRAILER => Err("the trailer has an impossible length"),
        _ => Err("neither a chunk nor the trailer begins here"),
    }
}

fn prefix(length: usize, kind: u32) -> [u8; FRAME_PREFIX_LENGTH] {
    let length = u32::try_from(length).expect("the caller has checked the length");
    let mut prefix = [0; FRAME_PREFIX_LENGTH];
    prefix[..4].copy_from_slice(&length.to_le_bytes());
    prefix[4..].copy_from_slice(&kind.to_le_bytes());
    prefix
}
