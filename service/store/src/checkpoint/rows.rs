//! The content of the chunks of a checkpoint, and of a backup: the rows of a state in their stored form, each after its
//! length. A row can continue in the next chunk.

use std::fmt;
use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use synod_machine::{Row, State};
use synod_model::stored::{from_bytes, put_number, to_bytes};

use super::CheckpointReader;

/// The chunks of rows. Each is made when it is asked for, and has the given length, except for the last one.
#[derive(Debug)]
pub struct RowChunks<I> {
    rows: I,
    chunk_bytes: usize,
    chunk: Vec<u8>,
    /// The end of the row that was begun.
    rest: Bytes,
}

/// The rows of a checkpoint or of a backup, read chunk by chunk.
#[derive(Debug, Default)]
pub struct Rows {
    whole: Vec<Row>,
    /// The beginning of a row that continues in the next chunk.
    begun: BytesMut,
}

/// The reason why chunks do not hold the rows of a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedRows(String);

impl<I: Iterator<Item = Row>> RowChunks<I> {
    /// The chunks of these rows, of this length each.
    pub fn new(rows: I, chunk_bytes: usize) -> Self {
        Self {
            rows,
            chunk_bytes,
            chunk: Vec::with_capacity(chunk_bytes),
            rest: Bytes::new(),
        }
    }

    fn take(&mut self) -> Bytes {
        let next = Vec::with_capacity(self.chunk_bytes);
        std::mem::replace(&mut self.chunk, next).into()
    }
}

impl<I: Iterator<Item = Row>> Iterator for RowChunks<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        loop {
            // The changes of one revision are one row, however long.
            let room = self.chunk_bytes.saturating_sub(self.chunk.len());
            let fits = self.rest.split_to(room.min(self.rest.len()));
            self.chunk.extend_from_slice(&fits);
            if self.chunk.len() >= self.chunk_bytes {
                return Some(self.take());
            }
            match self.rows.next() {
                Some(row) => {
                    self.rest = to_bytes(&row);
                    put_number(&mut self.chunk, self.rest.len() as u64);
                }
                None if self.chunk.is_empty() => return None,
                None => return Some(self.take()),
            }
        }
    }
}

impl Rows {
    /// Reads the next chunk.
    ///
    /// # Errors
    ///
    /// It holds something that is no row.
    pub fn read(&mut self, chunk: &[u8]) -> Result<(), MalformedRows> {
        self.begun.extend_from_slice(chunk);
        while let Some((head, length)) = length_of_row(&self.begun)? {
            if self.begun.len() - head < length {
                break;
            }
            self.begun.advance(head);
            // A buffer of its own: what is loaded from the row may share it, and would keep the whole chunk in memory.
            let row = Bytes::copy_from_slice(&self.begun[..length]);
            self.begun.advance(length);
            let row: Row = from_bytes(&row).map_err(malformed)?;
            row.check_machine_version().map_err(malformed)?;
            self.whole.push(row);
        }
        Ok(())
    }

    /// The number of rows that were read in whole.
    #[must_use]
    pub fn count(&self) -> usize {
        self.whole.len()
    }

    /// The state that has these rows.
    ///
    /// # Errors
    ///
    /// A row is incomplete, the rows contradict each other, or they do not have the recorded digest.
    pub fn state(self) -> Result<State, MalformedRows> {
        if !self.begun.is_empty() {
            return Err(malformed("its last row ends after it"));
        }
        State::from_rows(self.whole).map_err(malformed)
    }
}

/// Reads the state of a checkpoint, from its first chunk to its trailer.
///
/// # Errors
///
/// The checkpoint is damaged, or the disk fails.
pub fn read_state(reader: &mut CheckpointReader) -> io::Result<State> {
    let unusable = |fault: MalformedRows| io::Error::new(io::ErrorKind::InvalidData, fault);
    let mut rows = Rows::default();
    while let Some(chunk) = reader.next_chunk()? {
        rows.read(&chunk).map_err(unusable)?;
    }
    rows.state().map_err(unusable)
}

/// Reads the length that stands before a row: how many bytes it takes, and what it is. `None` if they have not all come.
fn length_of_row(bytes: &[u8]) -> Result<Option<(usize, usize)>, MalformedRows> {
    /// The longest form of a 64-bit number.
    const NUMBER_BYTES_MAX: usize = 10;

    let mut length = 0_u64;
    for (at, byte) in bytes.iter().take(NUMBER_BYTES_MAX).enumerate() {
        length |= u64::from(byte & 0x7f) << (7 * at);
        if *byte >= 0x80 {
            continue;
        }
        // As everywhere in the stored form, so that equal states have equal bytes.
        if at > 0 && *byte == 0 {
            return Err(malformed("the length of a row has leading zeros"));
        }
        let length = usize::try_from(length).ok();
        let length = length.filter(|_| at + 1 < NUMBER_BYTES_MAX);
        let length = length.ok_or_else(|| malformed("no row has such a length"))?;
        return Ok(Some((at + 1, length)));
    }
    if bytes.len() < NUMBER_BYTES_MAX {
        return Ok(None);
    }
    Err(malformed("no row has such a length"))
}

fn malformed(what: impl fmt::Display) -> MalformedRows {
    MalformedRows(what.to_string())
}
