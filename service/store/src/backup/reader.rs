//! Reads a backup from a stream. Nothing is returned before its checksum was verified.

use std::collections::BTreeMap;
use std::io::{self, Read};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use synod_machine::State;
use synod_model::stored::from_bytes;

use super::layout::{
    self, CHECKSUM_LENGTH, Frame, HEADER_BYTES_MAX, HEADER_FIXED_LENGTH, MAGIC, PREFIX_LENGTH,
    SHA256_LENGTH, TRAILER_LENGTH,
};
use super::{BACKUP_FORMAT, BackupError, BackupHeader, BackupSum};
use crate::checkpoint::Rows;

/// A backup that is being read.
#[derive(Debug)]
pub struct BackupReader<R> {
    from: R,
    offset: u64,
    checksum: u32,
    sha256: Sha256,
    header: BackupHeader,
    format: u32,
    rows_bytes: u64,
    /// What the trailer says, once it was reached.
    sum: Option<BackupSum>,
}

/// A backup that was read to its end and found whole.
#[derive(Debug)]
pub struct LoadedBackup {
    /// What it says of itself, which is what its state is.
    pub header: BackupHeader,
    /// The version of its form.
    pub format: u32,
    /// Its length and digest.
    pub sum: BackupSum,
    /// The number of rows.
    pub rows: usize,
    /// The state that its rows make.
    pub state: State,
}

impl LoadedBackup {
    /// How many rows of each kind it has.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for row in self.state.rows() {
            *counts.entry(row.kind()).or_default() += 1;
        }
        counts
    }
}

/// Reads all of a backup: its checksums, its SHA-256, every row, the digest of the state, and that the rows make a state.
///
/// # Errors
///
/// See [`BackupError`].
pub fn load(from: impl Read) -> Result<LoadedBackup, BackupError> {
    let mut reader = BackupReader::open(from)?;
    let mut rows = Rows::default();
    loop {
        let offset = reader.offset;
        let Some(chunk) = reader.next_chunk()? else {
            break;
        };
        rows.read(&chunk).map_err(|fault| BackupError::Damaged {
            offset,
            what: format!("its checksum holds, but what it has there is no row: {fault}"),
        })?;
    }
    let unusable = |what: String| BackupError::Unusable { what };
    let BackupReader {
        header,
        format,
        sum,
        ..
    } = reader;
    let sum = sum.ok_or_else(|| unusable("it has no trailer".to_owned()))?;
    let count = rows.count();
    let state = rows.state().map_err(|fault| unusable(fault.to_string()))?;
    if !header.is_of(&state) {
        return Err(unusable(
            "its header is not that of the state in it".to_owned(),
        ));
    }
    Ok(LoadedBackup {
        header,
        format,
        sum,
        rows: count,
        state,
    })
}

impl<R: Read> BackupReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// See [`BackupError`].
    pub fn open(mut from: R) -> Result<Self, BackupError> {
        let mut fixed = [0; HEADER_FIXED_LENGTH];
        fill(&mut from, &mut fixed, 0)?;
        if !fixed.starts_with(MAGIC) {
            return Err(damaged(0, "it does not begin like a backup"));
        }
        // The version is checked first: a newer format may differ from here on.
        let format = layout::number(&fixed, 8);
        if layout::number(&fixed, 12) > BACKUP_FORMAT {
            return Err(BackupError::Newer { found: format });
        }
        let length = layout::number(&fixed, 16) as usize;
        if length > HEADER_BYTES_MAX {
            return Err(damaged(16, "the header is longer than it can be"));
        }
        let content_at = fixed.len() as u64;
        let mut content = vec![0; length + CHECKSUM_LENGTH];
        fill(&mut from, &mut content, content_at)?;
        let (content, stored) = content.split_at(length);
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&fixed), content);
        if *stored != checksum.to_le_bytes() {
            return Err(damaged(content_at, "the checksum does not match"));
        }
        let header = from_bytes(&Bytes::copy_from_slice(content))
            .map_err(|fault| damaged(content_at, &format!("the header cannot be read: {fault}")))?;
        let sha256 = Sha256::new().chain_update(fixed).chain_update(content);
        Ok(Self {
            from,
            offset: content_at + (length + CHECKSUM_LENGTH) as u64,
            checksum,
            sha256: sha256.chain_update(stored),
            header,
            format,
            rows_bytes: 0,
            sum: None,
        })
    }

    /// What the backup says of itself.
    #[must_use]
    pub fn header(&self) -> &BackupHeader {
        &self.header
    }

    /// The next chunk of rows, or `None` after the last one, once the trailer has been verified and nothing follows it.
    ///
    /// # Errors
    ///
    /// See [`BackupError`].
    pub fn next_chunk(&mut self) -> Result<Option<Bytes>, BackupError> {
        if self.sum.is_some() {
            return Ok(None);
        }
        let at = self.offset;
        let mut prefix = [0; PREFIX_LENGTH];
        fill(&mut self.from, &mut prefix, at)?;
        match layout::read_prefix(prefix).map_err(|what| damaged(at, what))? {
            Frame::Chunk(length) => {
                let content = self.content(&prefix, length)?;
                self.rows_bytes += content.len() as u64;
                let checksum = self.checksum.to_le_bytes();
                self.sha256.update(prefix);
                self.sha256.update(&content);
                self.sha256.update(checksum);
                Ok(Some(content))
            }
            Frame::Trailer => {
                self.trailer(&prefix, at)?;
                Ok(None)
            }
        }
    }

    fn trailer(&mut self, prefix: &[u8], at: u64) -> Result<(), BackupError> {
        let content = self.content(prefix, TRAILER_LENGTH)?;
        let (rows_bytes, stored) = content.split_at(TRAILER_LENGTH - SHA256_LENGTH);
        let sha256 = self.sha256.clone();
        let sha256 = sha256.chain_update(prefix).chain_update(rows_bytes);
        let sha256: [u8; SHA256_LENGTH] = sha256.finalize().into();
        if *rows_bytes != self.rows_bytes.to_le_bytes() {
            return Err(damaged(at, "the trailer counts other chunks"));
        }
        if *stored != sha256 {
            return Err(damaged(at, "the SHA-256 of the backup is another one"));
        }
        let mut beyond = [0];
        match fill(&mut self.from, &mut beyond, self.offset) {
            Ok(()) => return Err(damaged(self.offset, "something follows the trailer")),
            Err(BackupError::Damaged { .. }) => {}
            Err(other) => return Err(other),
        }
        self.sum = Some(BackupSum {
            bytes: self.offset,
            rows_bytes: self.rows_bytes,
            sha256,
        });
        Ok(())
    }

    /// The content after a prefix, with its checksum verified.
    fn content(&mut self, prefix: &[u8], length: usize) -> Result<Bytes, BackupError> {
        let at = self.offset + prefix.len() as u64;
        let mut content = vec![0; length + CHECKSUM_LENGTH];
        fill(&mut self.from, &mut content, at)?;
        let stored = content.split_off(length);
        let checksum = crc32c::crc32c_append(self.checksum, prefix);
        let checksum = crc32c::crc32c_append(checksum, &content);
        if stored != checksum.to_le_bytes() {
            return Err(damaged(at, "the checksum does not match"));
        }
        self.checksum = checksum;
        self.offset = at + (length + CHECKSUM_LENGTH) as u64;
        Ok(content.into())
    }
}

/// Reads until `buffer` is full; `at` is where it begins.
fn fill(from: &mut impl Read, buffer: &mut [u8], at: u64) -> Result<(), BackupError> {
    from.read_exact(buffer).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(at, "it ends too early"),
        _ => error.into(),
    })
}

fn damaged(offset: u64, what: &str) -> BackupError {
    BackupError::Damaged {
        offset,
        what: what.to_owned(),
    }
}
