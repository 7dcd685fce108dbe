//! The window of a session: its requests that have no answer yet, and the numbers of new ones.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use synod_model::Sequence;
use tokio::sync::Notify;

/// Numbers the requests of a session and keeps their numbers close together: the cluster remembers outcomes from the
/// lowest unanswered number up, and only a limited number of them.
#[derive(Debug)]
pub(super) struct Window {
    state: Mutex<WindowState>,
    moved: Notify,
}

#[derive(Debug)]
struct WindowState {
    next: Sequence,
    /// Requests that are being sent.
    open: BTreeSet<Sequence>,
    /// Requests that were given up without an answer, oldest first. Their outcomes are kept so that they can be read,
    /// but only as long as new requests do not need their room.
    abandoned: VecDeque<Sequence>,
    width: u64,
}

/// The number of given-up requests whose outcomes are kept.
const ABANDONED_MAX: usize = 64;
/// The widest window that is used, however many outcomes the cluster keeps.
const WIDTH_MAX: u64 = 512;

impl Window {
    /// The window of a session that keeps this many outcomes.
    pub(super) fn new(outcomes_max: u32) -> Self {
        Self {
            state: Mutex::new(WindowState {
                next: Sequence::FIRST,
                open: BTreeSet::new(),
                abandoned: VecDeque::new(),
                width: u64::from(outcomes_max).clamp(1, WIDTH_MAX),
            }),
            moved: Notify::new(),
        }
    }

    /// The number of the next request; waits while it would be too far above the lowest unanswered one.
    pub(super) async fn begin(&self) -> Sequence {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if let Some(sequence) = self.lock().begin() {
                return sequence;
            }
            moved.await;
        }
    }

    pub(super) fn answered(&self, sequence: Sequence) {
        self.lock().open.remove(&sequence);
        self.moved.notify_waiters();
    }

    pub(super) fn abandoned(&self, sequence: Sequence) {
        self.lock().abandon(sequence);
        self.moved.notify_waiters();
    }

    /// The lowest number whose outcome the client does not know; if it knows all, the one that comes next.
    pub(super) fn lowest_unanswered(&self) -> Sequence {
        self.lock().lowest()
    }

    fn lock(&self) -> MutexGuard<'_, WindowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WindowState {
    fn begin(&mut self) -> Option<Sequence> {
        while self.is_full() {
            let oldest = *self.abandoned.front()?;
            if self.open.first().is_some_and(|open| *open < oldest) {
                return None;
            }
            self.abandoned.pop_front();
        }
        let sequence = self.next;
        self.next = sequence.next();
        self.open.insert(sequence);
        Some(sequence)
    }

    fn is_full(&self) -> bool {
        self.next.get() - self.lowest().get() >= self.width
    }

    fn lowest(&self) -> Sequence {
        let open = self.open.first().copied();
        let abandoned = self.abandoned.front().copied();
        open.into_iter().chain(abandoned).min().unwrap_or(self.next)
    }

    fn abandon(&mut self, sequence: Sequence) {
        self.open.remove(&sequence);
        let place = self.abandoned.partition_point(|kept| *kept < sequence);
        self.abandoned.insert(place, sequence);
        if self.abandoned.len() > ABANDONED_MAX {
            self.abandoned.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn sequence(number: u64) -> Sequence {
        Sequence::new(number).unwrap()
    }

    fn begin(window: &Window) -> Option<u64> {
        window.begin().now_or_never().map(Sequence::get)
    }

    #[test]
    fn requests_are_numbered_from_one_and_the_lowest_unanswered_follows_the_answers() {
        let window = Window::new(16);
        assert_eq!(window.lowest_unanswered(), sequence(1));
        assert_eq!((begin(&window), begin(&window)), (Some(1), Some(2)));
        window.answered(sequence(2));
        assert_eq!(window.lowest_unanswered(), sequence(1));
        window.answered(sequence(1));
        assert_eq!(window.lowest_unanswered(), sequence(3));
    }

    #[test]
    fn a_slow_request_holds_back_those_that_the_cluster_could_not_remember_beside_it() {
        let window = Window::new(3);
        for number in 1..=3 {
            assert_eq!(begin(&window), Some(number));
        }
        window.answered(sequence(2));
        window.answered(sequence(3));
        assert_eq!(begin(&window), None, "1 is still open");
        let waiting = window.begin();
        tokio::pin!(waiting);
        assert_eq!(waiting.as_mut().now_or_never(), None);
        window.answered(sequence(1));
        assert_eq!(waiting.now_or_never(), Some(sequence(4)));
    }

    #[test]
    fn a_given_up_request_keeps_its_outcome_until_its_room_is_needed() {
        let window = Window::new(3);
        begin(&window);
        window.abandoned(sequence(1));
        assert_eq!(window.lowest_unanswered(), sequence(1));
        for number in 2..=3 {
            assert_eq!(begin(&window), Some(number));
            window.answered(sequence(number));
        }
        assert_eq!(window.lowest_unanswered(), sequence(1));
        assert_eq!(begin(&window), Some(4));
        assert_eq!(window.lowest_unanswered(), sequence(4));
    }

    #[test]
    fn an_open_request_is_never_given_up_to_make_room() {
        let window = Window::new(2);
        begin(&window);
        begin(&window);
        window.abandoned(sequence(2));
        assert_eq!(
            begin(&window),
            None,
            "1 is open, and dropping 2 gives no room"
        );
        assert_eq!(window.lowest_unanswered(), sequence(1));
        window.answered(sequence(1));
        assert_eq!(begin(&window), Some(3));
    }

    #[test]
    fn only_so_many_given_up_requests_are_kept() {
        let window = Window::new(u32::MAX);
        for number in 1..=ABANDONED_MAX as u64 + 2 {
            assert_eq!(begin(&window), Some(number));
            window.abandoned(sequence(number));
        }
        assert_eq!(window.lowest_unanswered(), sequence(3));
    }
}
