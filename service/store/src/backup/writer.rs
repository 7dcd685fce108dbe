//! Writes a backup to a stream.

use std::io::Write;

use sha2::{Digest as _, Sha256};
use synod_model::stored::to_bytes;

use super::layout::{self, HEADER_BYTES_MAX, MAGIC};
use super::{BACKUP_CHUNK_BYTES_MAX, BACKUP_FORMAT, BACKUP_MIN_READER, BackupError, BackupHeader};

/// A backup that is being written. Without [`BackupWriter::finish`] it has no trailer, so nobody takes it for a whole one.
#[derive(Debug)]
pub struct BackupWriter<W> {
    to: W,
    checksum: u32,
    sha256: Sha256,
    /// The bytes of all chunks so far.
    rows_bytes: u64,
    /// The bytes that were written so far.
    bytes: u64,
}

/// What the trailer of a backup says, and its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BackupSum {
    /// The bytes of the whole backup.
    pub bytes: u64,
    /// The bytes of its rows.
    pub rows_bytes: u64,
    /// The SHA-256 of all bytes before it.
    pub sha256: [u8; 32],
}

impl<W: Write> BackupWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    ///
    /// [`BackupError::BadLength`] if the header is too long, and errors of the stream.
    pub fn begin(to: W, header: &BackupHeader) -> Result<Self, BackupError> {
        let content = to_bytes(header);
        let length = u32::try_from(content.len()).ok();
        let length = length.filter(|_| content.len() <= HEADER_BYTES_MAX);
        let length = length.ok_or(BackupError::BadLength {
            bytes: content.len(),
        })?;
        let mut writer = Self {
            to,
            checksum: 0,
            sha256: Sha256::new(),
            rows_bytes: 0,
            bytes: 0,
        };
        writer.write(MAGIC)?;
        for number in [BACKUP_FORMAT, BACKUP_MIN_READER, length] {
            writer.write(&number.to_le_bytes())?;
        }
        writer.write(&content)?;
        writer.write_checksum()?;
        Ok(writer)
    }

    /// Writes the next chunk of rows.
    ///
    /// # Errors
    ///
    /// [`BackupError::BadLength`] for an empty chunk or one that is too long, and errors of the stream.
    pub fn write_chunk(&mut self, content: &[u8]) -> Result<(), BackupError> {
        if content.is_empty() || content.len() > BACKUP_CHUNK_BYTES_MAX {
            return Err(BackupError::BadLength {
                bytes: content.len(),
            });
        }
        self.write(&layout::chunk_prefix(content.len()))?;
        self.write(content)?;
        self.write_checksum()?;
        self.rows_bytes += content.len() as u64;
        Ok(())
    }

    /// Returns the stream. All that was written so far may be taken from it.
    pub fn stream(&mut self) -> &mut W {
        &mut self.to
    }

    /// Writes the trailer, and returns the stream. What was written is not flushed.
    ///
    /// # Errors
    ///
    /// Errors of the stream.
    pub fn finish(mut self) -> Result<(W, BackupSum), BackupError> {
        self.write(&layout::trailer_prefix())?;
        let rows_bytes = self.rows_bytes;
        self.write(&rows_bytes.to_le_bytes())?;
        let sha256: [u8; 32] = self.sha256.clone().finalize().into();
        self.write(&sha256)?;
        self.write_checksum()?;
        let bytes = self.bytes;
        Ok((
            self.to,
            BackupSum {
                bytes,
                rows_bytes,
                sha256,
            },
        ))
    }

    fn write_checksum(&mut self) -> Result<(), BackupError> {
        let checksum = self.checksum.to_le_bytes();
        self.sha256.update(checksum);
        self.to.write_all(&checksum)?;
        self.bytes += checksum.len() as u64;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        self.sha256.update(bytes);
        self.to.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}
