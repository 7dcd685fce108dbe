//! The shared record of one connection: since when it exists, its address, its activity, and whether it is cut.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures::task::AtomicWaker;
use tokio::time::Instant;

use super::answers::{Answers, Unsent};

/// One connection, as the register of its door and the calls on it see it.
#[derive(Debug)]
pub(crate) struct Line {
    /// Greater than the ids of all earlier connections.
    pub(super) id: u64,
    /// The address of the client, without the port.
    pub(super) source: Arc<str>,
    pub(super) began: Instant,
    introduced: AtomicBool,
    pinged: AtomicBool,
    expired: AtomicBool,
    calls: AtomicUsize,
    /// Those of the calls that wait.
    waits: AtomicUsize,
    /// When it was last active, in milliseconds since it began.
    heard: AtomicU64,
    pub(super) unsent: Unsent,
    cut: OnceLock<Why>,
    /// Wakes the task that serves the connection.
    serving: AtomicWaker,
}

/// Why a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    /// A new connection needed its place.
    GaveWay,
    /// It did not introduce itself in time, or sent nothing for too long.
    Silent,
    /// It did not read its answers in time, or held most of all when the door held too many.
    Untaken,
    /// It sent too many control frames.
    Flood,
    /// The certificate that it began with has expired.
    Expired,
}

/// A call in progress on a connection. The call ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Call(Arc<Line>);

/// A call that waits, until this value is dropped.
#[derive(Debug)]
pub(crate) struct Waits(Arc<Line>);

impl Why {
    pub(crate) const ALL: [Self; 5] = [
        Self::GaveWay,
        Self::Silent,
        Self::Untaken,
        Self::Flood,
        Self::Expired,
    ];

    /// The name in metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::GaveWay => "gave_way",
            Self::Silent => "silent",
            Self::Untaken => "untaken",
            Self::Flood => "flood",
            Self::Expired => "expired",
        }
    }
}

impl Line {
    pub(super) fn new(id: u64, source: Arc<str>, answers: &Arc<Answers>) -> Self {
        let began = Instant::now();
        Self {
            id,
            source,
            began,
            introduced: AtomicBool::new(false),
            pinged: AtomicBool::new(false),
            expired: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            waits: AtomicUsize::new(0),
            heard: AtomicU64::new(0),
            unsent: Unsent::new(began, answers),
            cut: OnceLock::new(),
            serving: AtomicWaker::new(),
        }
    }

    /// Marks the connection as introduced.
    pub(crate) fn introduce(&self) {
        self.introduced.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_introduced(&self) -> bool {
        self.introduced.load(Ordering::Relaxed)
    }

    /// Notes that pings of HTTP/2 find out when the connection is dead.
    pub(super) fn ping(&self) {
        self.pinged.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_pinged(&self) -> bool {
        self.pinged.load(Ordering::Relaxed)
    }

    /// Marks the connection to be cut soon, once its answers had time to leave: who dials anew shows a new certificate.
    pub(crate) fn expire(&self) {
        self.expired.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    /// Notes activity on the connection.
    pub(super) fn hear(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(since, Ordering::Relaxed);
    }

    /// The time of the last activity.
    pub(super) fn heard(&self) -> Instant {
        let since = self.heard.load(Ordering::Relaxed);
        self.began + std::time::Duration::from_millis(since)
    }

    /// Begins a call, which lasts until the returned value is dropped.
    pub(crate) fn call(self: &Arc<Self>) -> Call {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.hear();
        Call(Arc::clone(self))
    }

    /// Notes a call that waits for what answers others too, until the returned value is dropped.
    pub(crate) fn wait(self: &Arc<Self>) -> Waits {
        self.waits.fetch_add(1, Ordering::Relaxed);
        Waits(Arc::clone(self))
    }

    /// Whether calls wait that may be answered together with others.
    pub(super) fn has_waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    /// Whether no call is in progress and no answer is unsent.
    pub(super) fn is_idle(&self) -> bool {
        self.calls.load(Ordering::Relaxed) == 0 && self.unsent.is_empty()
    }

    /// Requests the end of the connection. Returns false if it was cut before; the first reason stays.
    pub(super) fn cut(&self, why: Why) -> bool {
        let is_first = self.cut.set(why).is_ok();
        self.serving.wake();
        is_first
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.get().is_some()
    }

    /// Resolves when the connection must end. Wakes one task at a time: the one that serves the connection.
    pub(super) fn poll_cut(&self, context: &mut Context<'_>) -> Poll<Why> {
        self.serving.register(context.waker());
        match self.cut.get() {
            Some(why) => Poll::Ready(*why),
            None => Poll::Pending,
        }
    }

    /// The answers that the client has yet to read.
    pub(crate) fn unsent(&self) -> &Unsent {
        &self.unsent
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.0.hear();
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.waits.fetch_sub(1, Ordering::Relaxed);
    }
}
