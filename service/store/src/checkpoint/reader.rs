//! Reads a checkpoint, chunk by chunk. Nothing is returned before its checksum was verified.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::layout::{
    self, BadHeader, CHECKSUM_LENGTH, FRAME_PREFIX_LENGTH, FrameKind, HEADER_FIXED_LENGTH, Totals,
};
use super::{CHUNK_BYTES_MAX, CheckpointError, CheckpointFile, CheckpointHeader};
use crate::disk::{Disk, DiskFile};
use crate::failure::IoFailure;

/// A stream of the chunks of one checkpoint. It stays readable when the checkpoint is superseded.
#[derive(Debug)]
pub struct CheckpointReader {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    header: CheckpointHeader,
    first_chunk: Position,
    next: Position,
    ended: bool,
    /// The number that tells the file from others of this path: see [`super::CheckpointFile`].
    number: u64,
}

/// The position of the next frame, and the totals and checksum up to there.
#[derive(Clone, Copy, Debug)]
struct Position {
    offset: u64,
    checksum: u32,
    totals: Totals,
}

impl CheckpointReader {
    /// Opens a file and verifies its header.
    pub(super) fn open(disk: &dyn Disk, path: &Path) -> Result<Self, CheckpointError> {
        let file = disk
            .open(path)
            .map_err(IoFailure::while_doing("open", path))?;
        let mut source = Source { file: &*file, path };
        let fixed: [u8; HEADER_FIXED_LENGTH] = source.read(0)?;
        let (mut header, meta_length) = layout::decode_header(&fixed).map_err(|bad| match bad {
            BadHeader::Newer { found } => CheckpointError::Newer {
                file: path.to_owned(),
                found,
            },
            BadHeader::Broken(what) => source.damaged(0, what),
        })?;
        let meta_at = fixed.len() as u64;
        let (meta, end, checksum) =
            source.read_checked(crc32c::crc32c(&fixed), meta_at, meta_length)?;
        header.meta = meta;
        let first_chunk = Position {
            offset: end,
            checksum,
            totals: Totals::default(),
        };
        let path = path.to_owned();
        Ok(Self {
            file,
            path,
            header,
            first_chunk,
            next: first_chunk,
            ended: false,
            number: 0,
        })
    }

    pub(super) fn numbered(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// Returns the identity of this file, whose path another file may get.
    #[must_use]
    pub fn file(&self) -> CheckpointFile {
        CheckpointFile {
            last: self.header.last,
            path: self.path.clone(),
            number: self.number,
        }
    }

    /// Returns the header of the checkpoint.
    #[must_use]
    pub fn header(&self) -> &CheckpointHeader {
        &self.header
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next chunk, or `None` after the last one, once the trailer has been verified.
    ///
    /// # Errors
    /// [`CheckpointError::Damaged`], or an error of the file system.
    pub fn next_chunk(&mut self) -> Result<Option<Bytes>, CheckpointError> {
        if self.ended {
            return Ok(None);
        }
        let mut source = Source {
            file: &*self.file,
            path: &self.path,
        };
        let Position {
            offset,
            checksum,
            totals,
        } = self.next;
        let prefix: [u8; FRAME_PREFIX_LENGTH] = source.read(offset)?;
        let (kind, length) = layout::decode_prefix(prefix, CHUNK_BYTES_MAX)
            .map_err(|what| source.damaged(offset, what))?;
        let checksum = crc32c::crc32c_append(checksum, &prefix);
        let content_at = offset + prefix.len() as u64;
        let (content, end, checksum) = source.read_checked(checksum, content_at, length)?;
        match kind {
            FrameKind::Chunk => {
                let totals = Totals {
                    chunks: totals.chunks + 1,
                    bytes: totals.bytes + content.len() as u64,
                };
                self.next = Position {
                    offset: end,
                    checksum,
                    totals,
                };
                Ok(Some(content))
            }
            FrameKind::Trailer => {
                if layout::decode_totals(&content).ok() != Some(totals) {
                    return Err(source.damaged(offset, "the trailer counts other chunks"));
                }
                if source.length()? != end {
                    return Err(source.damaged(end, "something follows the trailer"));
                }
                self.ended = true;
                Ok(None)
            }
        }
    }

    /// Goes back to the first chunk.
    pub fn rewind(&mut self) {
        self.next = self.first_chunk;
        self.ended = false;
    }

    /// Reads everything once, verifies all checksums, and goes back to the first chunk.
    ///
    /// # Errors
    /// As [`CheckpointReader::next_chunk`].
    pub fn verify(&mut self) -> Result<(), CheckpointError> {
        self.rewind();
        while self.next_chunk()?.is_some() {}
        self.rewind();
        Ok(())
    }
}

/// Reads a file and reports its early end as damage at an offset.
struct Source<'a> {
    file: &'a dyn DiskFile,
    path: &'a Path,
}

impl Source<'_> {
    fn length(&self) -> Result<u64, CheckpointError> {
        Ok(self
            .file
            .length()
            .map_err(IoFailure::while_doing("examine", self.path))?)
    }

    fn read<const N: usize>(&mut self, offset: u64) -> Result<[u8; N], CheckpointError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Reads content and the checksum after it, which continues `checksum`.
    ///
    /// Returns the content, the offset after the checksum, and the checksum.
    fn read_checked(
        &mut self,
        checksum: u32,
        offset: u64,
        length: usize,
    ) -> Result<(Bytes, u64, u32), CheckpointError> {
        let mut bytes = vec![0; length + CHECKSUM_LENGTH];
        self.fill(&mut bytes, offset)?;
        let stored = bytes.split_off(length);
        let computed = crc32c::crc32c_append(checksum, &bytes);
        if stored != computed.to_le_bytes() {
            return Err(self.damaged(offset, "the checksum does not match"));
        }
        Ok((
            bytes.into(),
            offset + (length + CHECKSUM_LENGTH) as u64,
            computed,
        ))
    }

    fn fill(&mut self, bytes: &mut [u8], offset: u64) -> Result<(), CheckpointError> {
        match self.file.read_exact_at(bytes, offset) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.damaged(offset, "the file ends too early"))
            }
            Err(e) => Err(IoFailure::while_doing("read", self.path)(e).into()),
        }
    }

    fn damaged(&self, offset: u64, what: &'static str) -> CheckpointError {
        CheckpointError::Damaged {
            file: self.path.to_owned(),
            offset,
            what,
        }
    }
}
