//! The bytes of an answer, which count as unsent until the network has taken the last of them.

use std::sync::Arc;

use bytes::Bytes;

use super::line::Line;
use crate::limits::ANSWER_PIECE_BYTES;

/// The bytes of an answer. They count as unsent until their last piece is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Held(Arc<Whole>);

#[derive(Debug)]
struct Whole {
    line: Arc<Line>,
    bytes: Bytes,
    is_shared: bool,
}

/// Iterates over an answer in pieces of `ANSWER_PIECE_BYTES`, which are given to the network one by one.
#[derive(Debug)]
pub(crate) struct Pieces {
    held: Held,
    given: usize,
}

/// A piece of an answer that the network holds. Dropping it notes that bytes were taken.
struct Piece {
    bytes: Bytes,
    held: Held,
}

impl Held {
    /// Holds bytes that were made for one connection.
    pub(crate) fn own(line: &Arc<Line>, bytes: Bytes) -> Self {
        Self::new(line, bytes, false)
    }

    /// Holds bytes that were made once and are shared by many connections.
    pub(crate) fn shared(line: &Arc<Line>, bytes: Bytes) -> Self {
        Self::new(line, bytes, true)
    }

    fn new(line: &Arc<Line>, bytes: Bytes, is_shared: bool) -> Self {
        line.unsent.add(bytes.len(), is_shared);
        Self(Arc::new(Whole {
            line: Arc::clone(line),
            bytes,
            is_shared,
        }))
    }

    /// Splits the bytes into the pieces that are given to the network.
    pub(crate) fn pieces(self) -> Pieces {
        Pieces {
            held: self,
            given: 0,
        }
    }
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let bytes = &self.held.0.bytes;
        let end = bytes.len().min(self.given + ANSWER_PIECE_BYTES);
        if self.given == end {
            return None;
        }
        let bytes = bytes.slice(self.given..end);
        self.given = end;
        let held = self.held.clone();
        Some(Bytes::from_owner(Piece { bytes, held }))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.line.unsent.remove(self.bytes.len(), self.is_shared);
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.held.0.line.unsent.move_on();
    }
}
