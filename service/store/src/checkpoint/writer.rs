//! Writes a checkpoint: temporary file, syncs in steps, rename, sync of the directory.

use std::path::PathBuf;
use std::sync::Arc;

use super::directory::CheckpointDirectory;
use super::layout::{self, CHECKSUM_LENGTH, Totals};
use super::{CHUNK_BYTES_MAX, CheckpointError, CheckpointFile, CheckpointHeader, META_BYTES_MAX};
use crate::disk::DiskFile;
use crate::failure::IoFailure;

/// The most bytes that are written between two syncs.
///
/// One sync of a whole state would delay the syncs of the log for as long as it takes.
const SYNC_STEP_BYTES: u64 = 4 << 20;

/// A checkpoint that is being written. Dropping it before [`CheckpointWriter::finish`] removes it.
///
/// A checkpoint made here and one received from a leader are written in the same way.
#[derive(Debug)]
pub struct CheckpointWriter {
    shared: Arc<CheckpointDirectory>,
    header: CheckpointHeader,
    temporary: PathBuf,
    number: u64,
    file: Arc<dyn DiskFile>,
    offset: u64,
    synced: u64,
    checksum: u32,
    totals: Totals,
    failed: bool,
    finished: bool,
}

impl CheckpointWriter {
    pub(super) fn begin(
        shared: Arc<CheckpointDirectory>,
        temporary: PathBuf,
        header: CheckpointHeader,
        number: u64,
    ) -> Result<Self, CheckpointError> {
        if header.meta.len() > META_BYTES_MAX {
            return Err(CheckpointError::BadLength {
                file: temporary,
                bytes: header.meta.len(),
            });
        }
        let file = shared
            .disk
            .create(&temporary, 0)
            .map_err(IoFailure::while_doing("create", &temporary))?;
        let mut encoded = Vec::new();
        layout::encode_header(&header, &mut encoded);
        let mut writer = Self {
            shared,
            header,
            temporary,
            number,
            file,
            offset: 0,
            synced: 0,
            checksum: 0,
            totals: Totals::default(),
            failed: false,
            finished: false,
        };
        writer.frame(&encoded, &[])?;
        Ok(writer)
    }

    /// Returns the header of the checkpoint.
    #[must_use]
    pub fn header(&self) -> &CheckpointHeader {
        &self.header
    }

    /// Writes one chunk. It should be filled up to [`CHUNK_BYTES_TARGET`](super::CHUNK_BYTES_TARGET).
    ///
    /// # Errors
    /// [`CheckpointError::BadLength`] for an empty chunk or one beyond [`CHUNK_BYTES_MAX`], and errors of the file
    /// system, after which this checkpoint cannot be finished.
    pub fn write_chunk(&mut self, content: &[u8]) -> Result<(), CheckpointError> {
        if content.is_empty() || content.len() > CHUNK_BYTES_MAX {
            let file = self.temporary.clone();
            return Err(CheckpointError::BadLength {
                file,
                bytes: content.len(),
            });
        }
        self.frame(&layout::chunk_prefix(content.len()), content)?;
        self.totals.chunks += 1;
        self.totals.bytes += content.len() as u64;
        if self.offset - self.synced >= SYNC_STEP_BYTES {
            self.sync()?;
        }
        Ok(())
    }

    /// Completes the checkpoint, which is durable when this returns, and removes what it supersedes.
    ///
    /// # Errors
    /// An error of the file system. The earlier checkpoints remain until this one is in place.
    pub fn finish(mut self) -> Result<CheckpointFile, CheckpointError> {
        let mut trailer = Vec::new();
        layout::encode_trailer(&self.totals, &mut trailer);
        self.frame(&trailer, &[])?;
        self.sync()?;
        let finished = self
            .shared
            .adopt(&self.temporary, &self.header, self.number)?;
        self.finished = true;
        Ok(finished)
    }

    /// Writes one frame and the checksum after it.
    fn frame(&mut self, prefix: &[u8], content: &[u8]) -> Result<(), CheckpointError> {
        if self.failed {
            return Err(CheckpointError::Abandoned {
                file: self.temporary.clone(),
            });
        }
        self.checksum = crc32c::crc32c_append(self.checksum, prefix);
        self.checksum = crc32c::crc32c_append(self.checksum, content);
        for part in [
            prefix,
            content,
            &self.checksum.to_le_bytes()[..CHECKSUM_LENGTH],
        ] {
            let written = self.file.write_all_at(part, self.offset);
            self.failed |= written.is_err();
            written.map_err(IoFailure::while_doing("write to", &self.temporary))?;
            self.offset += part.len() as u64;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), CheckpointError> {
        let synced = self.file.sync_data();
        self.failed |= synced.is_err();
        synced.map_err(IoFailure::while_doing("sync", &self.temporary))?;
        self.synced = self.offset;
        Ok(())
    }
}

impl Drop for CheckpointWriter {
    fn drop(&mut self) {
        if !self.finished {
            // Opening the store removes unfinished files, so a failure here has no consequence.
            drop(self.shared.disk.remove(&self.temporary));
        }
    }
}
