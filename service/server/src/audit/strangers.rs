//! Bounds the lines about callers of whom nobody knows who they are: whoever reaches the port could fill the disk with them.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::AUDIT_STRANGERS_MAX;

/// How many more lines there may be in this second, and how many it had no room for.
#[derive(Debug)]
pub(super) struct Strangers {
    room: AtomicUsize,
    left_out: AtomicUsize,
}

impl Strangers {
    pub(super) fn new() -> Self {
        Self {
            room: AtomicUsize::new(AUDIT_STRANGERS_MAX),
            left_out: AtomicUsize::new(0),
        }
    }

    /// Whether there may be another line in this second.
    pub(super) fn have_room(&self) -> bool {
        let less = |room: usize| room.checked_sub(1);
        let taken = self
            .room
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if taken.is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        taken.is_ok()
    }

    /// Begins the next second. Returns how many lines were left out of the one before.
    pub(super) fn next_second(&self) -> usize {
        self.room.store(AUDIT_STRANGERS_MAX, Ordering::Relaxed);
        self.left_out.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Guarantee: A-11
    #[test]
    fn a_second_has_so_many_lines_and_the_rest_is_counted_once() {
        let strangers = Strangers::new();
        let lines = |tries: usize| (0..tries).filter(|_| strangers.have_room()).count();
        assert_eq!(lines(AUDIT_STRANGERS_MAX + 7), AUDIT_STRANGERS_MAX);
        assert_eq!(strangers.next_second(), 7);
        assert_eq!(lines(3), 3);
        assert_eq!(strangers.next_second(), 0);
        assert_eq!(lines(AUDIT_STRANGERS_MAX), AUDIT_STRANGERS_MAX);
    }
}
