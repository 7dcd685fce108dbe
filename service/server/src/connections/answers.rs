//! How many bytes of answers may wait until they are taken, on one connection and on all of a door.
//!
//! Whoever asks and does not read costs memory: an answer is held until the network has taken it. So its bytes are counted
//! until then. A connection with too many of them gets no more answers made until it has taken some, and if all together
//! hold too many, the one that holds most is cut.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use synod_model::{ErrorKind, Refusal};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::limits::{
    ANSWER_BYTES_HELD_MAX, ANSWER_BYTES_PER_CONNECTION_MAX, CALLS_PER_CONNECTION_MAX,
};

/// So many may be noted as waiting on a connection: more than can wait at a time.
pub(super) const WAITING_MAX: usize = 2 * CALLS_PER_CONNECTION_MAX as usize;

/// The bytes of all connections of a door.
#[derive(Debug)]
pub(super) struct Answers {
    held: AtomicUsize,
    shown: Gauge,
    /// Told when there are too many.
    pub(super) over: Notify,
}

/// The bytes of one connection.
#[derive(Debug)]
pub(crate) struct Unsent {
    answers: Arc<Answers>,
    /// Bytes that are held for it alone.
    own: AtomicUsize,
    /// Bytes that it holds together with others.
    shared: AtomicUsize,
    began: Instant,
    /// When it last took some, or had none, in milliseconds since it began.
    moved: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
}

impl Answers {
    pub(super) fn new(shown: Gauge) -> Self {
        Self {
            held: AtomicUsize::new(0),
            shown,
            over: Notify::new(),
        }
    }

    /// How many bytes are held beyond what may be.
    pub(super) fn excess(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        held.saturating_sub(ANSWER_BYTES_HELD_MAX)
    }

    fn add(&self, bytes: usize) {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.show(held);
        if held > ANSWER_BYTES_HELD_MAX {
            self.over.notify_one();
        }
    }

    fn remove(&self, bytes: usize) {
        let held = self.held.fetch_sub(bytes, Ordering::Relaxed) - bytes;
        self.show(held);
    }

    fn show(&self, held: usize) {
        self.shown.set(i64::try_from(held).unwrap_or(i64::MAX));
    }
}

impl Unsent {
    pub(super) fn new(began: Instant, answers: &Arc<Answers>) -> Self {
        Self {
            answers: Arc::clone(answers),
            own: AtomicUsize::new(0),
            shared: AtomicUsize::new(0),
            began,
            moved: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }

    /// Waits until another answer may be made.
    ///
    /// # Errors
    ///
    /// `OVERLOADED` if what was answered is not taken by the deadline.
    pub(crate) async fn room(&self, deadline: Instant) -> Result<(), Refusal> {
        let room = poll_fn(|context| self.poll_room(context));
        timeout_at(deadline, room).await.map_err(|_| untaken())
    }

    /// Resolves when another answer may be made.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            if waiting.len() >= WAITING_MAX {
                // Most of them have given up: whoever still waits comes back.
                waiting.drain(..).for_each(Waker::wake);
            }
            waiting.push(context.waker().clone());
        }
        drop(waiting);
        // What was taken in between has woken nobody.
        if self.has_room() {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    fn has_room(&self) -> bool {
        self.own.load(Ordering::Acquire) < ANSWER_BYTES_PER_CONNECTION_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// All that it holds, what it holds with others too.
    pub(super) fn bytes(&self) -> usize {
        self.own.load(Ordering::Relaxed) + self.shared.load(Ordering::Relaxed)
    }

    /// What it holds alone.
    pub(super) fn own(&self) -> usize {
        self.own.load(Ordering::Relaxed)
    }

    /// For how long it has had bytes to take and has taken none.
    pub(super) fn stuck(&self) -> Duration {
        if self.is_empty() {
            return Duration::ZERO;
        }
        let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
        self.began.elapsed().saturating_sub(moved)
    }

    /// Takes note that an answer is held.
    pub(super) fn add(&self, bytes: usize, is_shared: bool) {
        if self.is_empty() {
            self.move_on();
        }
        if is_shared {
            self.shared.fetch_add(bytes, Ordering::AcqRel);
        } else {
            self.own.fetch_add(bytes, Ordering::AcqRel);
            self.answers.add(bytes);
        }
    }

    /// Takes note that an answer is gone.
    pub(super) fn remove(&self, bytes: usize, is_shared: bool) {
        if is_shared {
            self.shared.fetch_sub(bytes, Ordering::AcqRel);
            return;
        }
        let before = self.own.fetch_sub(bytes, Ordering::AcqRel);
        self.answers.remove(bytes);
        if before >= ANSWER_BYTES_PER_CONNECTION_MAX && self.has_room() {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.drain(..).for_each(Waker::wake);
        }
    }

    /// Takes note that some bytes were taken, or that there were none to take.
    pub(super) fn move_on(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(since, Ordering::Relaxed);
    }
}

fn untaken() -> Refusal {
    let message = format!(
        "{ANSWER_BYTES_PER_CONNECTION_MAX} bytes of answers wait on this connection to be taken: read them, or ask for \
         less at a time"
    );
    Refusal::new(ErrorKind::Overloaded, message)
}
