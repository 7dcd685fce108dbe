//! UUIDs of version 8: sixteen bytes of a SHA-256, marked as such.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::Violation;

/// The hash of parts, each with its length before it, so that no two lists of parts hash alike.
/// The first part says what the UUID is of.
pub(crate) fn v8_of(parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    bytes
}

/// Writes the bytes as `8-4-4-4-12` lower case hexadecimal digits.
pub(crate) fn write(bytes: &[u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let hex = HEXLOWER.encode(bytes);
    let text = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-");
    f.pad(&text)
}

/// Reads what [`write()`] writes, and nothing else: one UUID has one text.
pub(crate) fn parse(text: &str) -> Result<[u8; 16], Violation> {
    let malformed = || {
        let rule = "must be a UUID of lower case hexadecimal digits \
                    (e.g. '0f7cb1a2-3d4e-8f60-a1b2-c3d4e5f60718')";
        Violation::invalid(text, rule)
    };
    let parts: Vec<&str> = text.split('-').collect();
    if !parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) {
        return Err(malformed());
    }
    let bytes = HEXLOWER
        .decode(parts.concat().as_bytes())
        .map_err(|_| malformed())?;
    bytes.try_into().map_err(|_| malformed())
}
