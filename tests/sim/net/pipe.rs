//! One direction of a connection, with the bytes in flight.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::task::Waker;

use super::Host;

/// One direction of a connection.
pub(super) struct Pipe {
    pub(super) from: Host,
    pub(super) to: Host,
    /// Whether it leads back to whoever opened the connection.
    pub(super) answers: bool,
    /// The pieces in flight, each with the time when it is due; an empty piece is the end.
    pub(super) under_way: VecDeque<(u64, Vec<u8>)>,
    pub(super) under_way_bytes: usize,
    pub(super) readable: VecDeque<u8>,
    pub(super) ended: bool,
    pub(super) reader_gone: bool,
    /// The reader's host has given it up: dropping the reader's end has no further effect.
    pub(super) abandoned: bool,
    pub(super) writer_gone: bool,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
}

impl Pipe {
    pub(super) fn new(from: Host, to: Host, answers: bool) -> Self {
        Self {
            from,
            to,
            answers,
            under_way: VecDeque::new(),
            under_way_bytes: 0,
            readable: VecDeque::new(),
            ended: false,
            reader_gone: false,
            abandoned: false,
            writer_gone: false,
            reader: None,
            writer: None,
        }
    }

    pub(super) fn send(&mut self, due: u64, bytes: &[u8]) {
        // Bytes never overtake earlier ones.
        let due = self
            .under_way
            .back()
            .map_or(due, |(before, _)| due.max(*before));
        self.under_way_bytes += bytes.len();
        self.under_way.push_back((due, bytes.to_vec()));
    }

    /// Delivers what is under way no sooner than at this time.
    pub(super) fn resume_at(&mut self, due: u64) {
        for piece in &mut self.under_way {
            piece.0 = piece.0.max(due);
        }
    }

    pub(super) fn deliver(&mut self, now: u64) -> Vec<Waker> {
        let mut delivered = false;
        while self
            .under_way
            .front()
            .is_some_and(|(due, _)| due.cmp(&now) != Ordering::Greater)
        {
            if let Some((_, bytes)) = self.under_way.pop_front() {
                delivered = true;
                self.under_way_bytes -= bytes.len();
                self.ended |= bytes.is_empty();
                self.readable.extend(bytes);
            }
        }
        if delivered {
            [self.reader.take(), self.writer.take()]
                .into_iter()
                .flatten()
                .collect()
        } else {
            Vec::new()
        }
    }

    pub(super) fn break_off(&mut self) -> Vec<Waker> {
        self.under_way.clear();
        self.under_way_bytes = 0;
        self.ended = true;
        self.reader_gone = true;
        [self.reader.take(), self.writer.take()]
            .into_iter()
            .flatten()
            .collect()
    }
}
