//! Bounds the bytes of answers that wait to be sent, for one connection and for all connections of a door.
//!
//! A client that asks and does not read costs memory: an answer is held until the network has taken it, and its bytes
//! are counted until then. A connection with too many unsent bytes gets no further answers until it has taken some. If
//! all connections of a door together hold too many, the connection that holds most is cut.

use std::collections::BTreeSet;
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

/// The most wakers noted on one connection: twice the calls that can wait at a time.
pub(super) const WAITING_MAX: usize = 2 * CALLS_PER_CONNECTION_MAX;

/// The unsent bytes of all connections of a door.
#[derive(Debug)]
pub(super) struct Answers {
    held: AtomicUsize,
    shown: Gauge,
    /// Notified when the connections together hold more than `ANSWER_BYTES_HELD_MAX`.
    pub(super) over: Notify,
}

/// The unsent bytes of one connection.
#[derive(Debug)]
pub(crate) struct Unsent {
    answers: Arc<Answers>,
    /// Bytes that are held for this connection alone.
    own: AtomicUsize,
    /// Bytes that are shared with other connections, such as an event of a watch encoded once for all.
    shared: AtomicUsize,
    began: Instant,
    /// When the connection last took bytes or had none to take, in milliseconds since `began`.
    moved: AtomicU64,
    waiting: Mutex<Waiting>,
}

/// The wakers of calls that wait on one connection. There may be many, and each call asks again and again.
#[derive(Debug, Default)]
struct Waiting {
    known: BTreeSet<Woken>,
    /// In the order in which they came.
    wakers: Vec<Waker>,
}

/// What a waker wakes: the addresses of its data and of its functions.
type Woken = (usize, usize);

impl Answers {
    pub(super) fn new(shown: Gauge) -> Self {
        Self {
            held: AtomicUsize::new(0),
            shown,
            over: Notify::new(),
        }
    }

    /// The number of bytes held beyond `ANSWER_BYTES_HELD_MAX`.
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

    /// Waits until the connection may get another answer.
    ///
    /// # Errors
    ///
    /// `OVERLOADED` if the client does not read enough of its earlier answers by the deadline.
    pub(crate) async fn room(&self, deadline: Instant) -> Result<(), Refusal> {
        let room = poll_fn(|context| self.poll_room(context));
        timeout_at(deadline, room).await.map_err(|_| untaken())
    }

    /// Resolves when the connection may get another answer.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.add(context.waker());
        drop(waiting);
        // Bytes taken since the first check found this waker not yet registered, so check again.
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

    /// All unsent bytes of the connection, the shared ones included.
    pub(super) fn bytes(&self) -> usize {
        self.own.load(Ordering::Relaxed) + self.shared.load(Ordering::Relaxed)
    }

    /// The unsent bytes that only this connection holds.
    pub(super) fn own(&self) -> usize {
        self.own.load(Ordering::Relaxed)
    }

    /// For how long the connection has had bytes to take and has taken none.
    pub(super) fn stuck(&self) -> Duration {
        if self.is_empty() {
            return Duration::ZERO;
        }
        let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
        self.began.elapsed().saturating_sub(moved)
    }

    /// Counts the bytes of an answer that is now held.
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

    /// Stops counting the bytes of an answer that is gone.
    pub(super) fn remove(&self, bytes: usize, is_shared: bool) {
        if is_shared {
            self.shared.fetch_sub(bytes, Ordering::AcqRel);
            return;
        }
        let before = self.own.fetch_sub(bytes, Ordering::AcqRel);
        self.answers.remove(bytes);
        if before >= ANSWER_BYTES_PER_CONNECTION_MAX && self.has_room() {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.wake_all();
        }
    }

    /// Notes that bytes were just taken, or that there were none to take.
    pub(super) fn move_on(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(since, Ordering::Relaxed);
    }
}

/// Two wakers for which this is equal wake the same, as long as one of them is kept.
fn woken(waker: &Waker) -> Woken {
    (
        waker.data().addr(),
        std::ptr::from_ref(waker.vtable()).addr(),
    )
}

impl Waiting {
    fn add(&mut self, waker: &Waker) {
        let woken = woken(waker);
        if self.known.contains(&woken) {
            return;
        }
        if self.wakers.len() >= WAITING_MAX {
            // More wakers than calls: most belong to calls that gave up. Calls that still wait register again.
            self.wake_all();
        }
        self.known.insert(woken);
        self.wakers.push(waker.clone());
    }

    fn wake_all(&mut self) {
        self.known.clear();
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

fn untaken() -> Refusal {
    let message = format!(
        "{ANSWER_BYTES_PER_CONNECTION_MAX} bytes of answers wait on this connection to be taken: read them, or ask for \
         less at a time"
    );
    Refusal::new(ErrorKind::Overloaded, message)
}
