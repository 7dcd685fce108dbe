//! The queue of records to be written, and of callers that wait for room.

use std::collections::VecDeque;
use std::fmt;
use std::io;

use super::layout::Record;

/// Called once with the outcome of the write and sync that covered the records it was enqueued with.
///
/// It runs on the flushing thread, during the flush. So it must not block, and of the log it may use everything except
/// what writes: [`flush`](super::Log::flush) and its halves, `housekeep` and `seal`.
pub type Done = Box<dyn FnOnce(io::Result<()>) + Send>;

/// Called once when there is room again, or when the log has failed.
pub(super) type Room = Box<dyn FnOnce() + Send>;

/// Records that go to disk together, with their callback.
pub(super) struct Item {
    pub(super) records: Vec<Record>,
    pub(super) done: Option<Done>,
}

/// A queue bounded in bytes.
pub(super) struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    bytes_max: usize,
    waiting_for_room: Vec<Room>,
}

impl Queue {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            items: VecDeque::new(),
            bytes: 0,
            bytes_max,
            waiting_for_room: Vec::new(),
        }
    }

    /// Whether another item is accepted. The last one accepted may exceed the bound.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < self.bytes_max
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn push(&mut self, item: Item) {
        self.bytes += weight(&item);
        self.items.push_back(item);
    }

    /// Takes items from the front up to `bytes_max`, at least one if there is any.
    pub(super) fn take(&mut self, bytes_max: usize) -> Vec<Item> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        while let Some(item) = self.items.front() {
            bytes += weight(item);
            if bytes > bytes_max && !taken.is_empty() {
                break;
            }
            taken.extend(self.items.pop_front());
        }
        self.bytes -= taken.iter().map(weight).sum::<usize>();
        taken
    }

    /// Waits for room, after the caller has seen that there is none.
    pub(super) fn wait_for_room(&mut self, room: Room) {
        self.waiting_for_room.push(room);
    }

    /// Takes all callbacks that wait for room. They must be called without a lock.
    pub(super) fn take_waiting(&mut self) -> Vec<Room> {
        std::mem::take(&mut self.waiting_for_room)
    }
}

/// The bytes of an item. An item without records still takes memory, so it counts too.
fn weight(item: &Item) -> usize {
    item.records.iter().map(Record::length).sum::<usize>() + size_of::<Item>()
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("items", &self.items.len())
            .field("bytes", &self.bytes)
            .field("bytes_max", &self.bytes_max)
            .finish_non_exhaustive()
    }
}
