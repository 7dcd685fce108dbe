//! The content of the chunks of a checkpoint, and of a backup: the rows of a state in their stored form, each after its
//! length. A row can continue in the next chunk.

use std::fmt;

use bytes::{Bytes, BytesMut};
use synod_machine::{CorruptState, HashedRow, Loading, Row, State};
use synod_model::stored::{from_bytes, from_slice, put_number, to_bytes};

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
    cut: Cut,
    count: usize,
    made: Made,
}

/// Cuts chunks where rows end.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The beginning of a row that continues in the next chunk.
    begun: BytesMut,
}

/// The state that is made of rows, or why they make none: the rest is only read then. `None` before the first row.
#[derive(Debug, Default)]
pub(super) struct Made(Option<Result<Loading, CorruptState>>);

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
        let whole = self.cut.at_rows(chunk)?;
        each_row(&whole, |row| {
            self.count += 1;
            self.made.add(row);
        })
    }

    /// The number of rows that were read in whole.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The state that has these rows.
    ///
    /// # Errors
    ///
    /// A row is incomplete, the rows contradict each other, or they do not have the recorded digest.
    pub fn state(self) -> Result<State, MalformedRows> {
        self.cut.end()?;
        self.made.state()
    }
}

impl Cut {
    /// The rows that end in this chunk, each after its length.
    pub(super) fn at_rows(&mut self, chunk: &[u8]) -> Result<Bytes, MalformedRows> {
        self.begun.extend_from_slice(chunk);
        let mut end = 0;
        while let Some((head, length)) = length_of_row(&self.begun[end..])? {
            if self.begun.len() - end - head < length {
                break;
            }
            end += head + length;
        }
        Ok(self.begun.split_to(end).freeze())
    }

    /// Checks that no row was begun and not ended.
    pub(super) fn end(&self) -> Result<(), MalformedRows> {
        if self.begun.is_empty() {
            return Ok(());
        }
        Err(malformed("its last row ends after it"))
    }
}

impl Made {
    pub(super) fn add(&mut self, row: HashedRow) {
        match &mut self.0 {
            None => self.0 = Some(Loading::begin(row)),
            Some(Ok(loading)) => {
                if let Err(fault) = loading.load(row) {
                    self.0 = Some(Err(fault));
                }
            }
            Some(Err(_)) => {}
        }
    }

    pub(super) fn state(self) -> Result<State, MalformedRows> {
        match self.0 {
            None => State::from_rows([]),
            Some(made) => made.and_then(Loading::end),
        }
        .map_err(malformed)
    }
}

/// Reads whole rows, each after its length.
pub(super) fn each_row(
    mut rows: &[u8],
    mut take: impl FnMut(HashedRow),
) -> Result<(), MalformedRows> {
    /// What is loaded from a shorter row shares nothing with it.
    const SHARED_BYTES_MIN: usize = 4 << 10;

    while let Some((head, length)) = length_of_row(rows)? {
        let (row, rest) = rows[head..].split_at(length);
        let row: Row = if length < SHARED_BYTES_MIN {
            from_slice(row)
        } else {
            // A buffer of its own: what is loaded from the row may share it, and would keep all others in memory.
            from_bytes(&Bytes::copy_from_slice(row))
        }
        .map_err(malformed)?;
        row.check_machine_version().map_err(malformed)?;
        take(HashedRow::of(row));
        rows = rest;
    }
    Ok(())
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
