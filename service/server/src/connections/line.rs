//! One connection, as everybody else sees it: since when, who it is, what it does, and whether it is cut.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures::task::AtomicWaker;
use tokio::time::Instant;

use super::answers::{Answers, Unsent};

/// See the module.
#[derive(Debug)]
pub(crate) struct Line {
    /// Greater than those of all connections before.
    pub(super) id: u64,
    /// The address it comes from, without the port.
    pub(super) source: Arc<str>,
    pub(super) began: Instant,
    introduced: AtomicBool,
    calls: AtomicUsize,
    /// When it was last heard of, in milliseconds since it began.
    heard: AtomicU64,
    pub(super) unsent: Unsent,
    cut: OnceLock<Why>,
    /// Who serves it.
    serving: AtomicWaker,
}

/// Why a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    /// Somebody else needed its place.
    GaveWay,
    /// It did not say in time what it is, or nothing for too long.
    Silent,
    /// It did not take its answers in time, or most of all when there was no room for more.
    Untaken,
    /// It sent frames without end that ask for nothing.
    Flood,
}

/// A call that is under way on a connection.
#[derive(Debug)]
pub(crate) struct Call(Arc<Line>);

impl Why {
    pub(crate) const ALL: [Self; 4] = [Self::GaveWay, Self::Silent, Self::Untaken, Self::Flood];

    /// Its name in metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::GaveWay => "gave_way",
            Self::Silent => "silent",
            Self::Untaken => "untaken",
            Self::Flood => "flood",
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
            calls: AtomicUsize::new(0),
            heard: AtomicU64::new(0),
            unsent: Unsent::new(began, answers),
            cut: OnceLock::new(),
            serving: AtomicWaker::new(),
        }
    }

    /// It has said what it is.
    pub(crate) fn introduce(&self) {
        self.introduced.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_introduced(&self) -> bool {
        self.introduced.load(Ordering::Relaxed)
    }

    /// Something was heard of it that counts.
    pub(super) fn hear(&self) {
        let since = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.store(since, Ordering::Relaxed);
    }

    /// When that was.
    pub(super) fn heard(&self) -> Instant {
        let since = self.heard.load(Ordering::Relaxed);
        self.began + std::time::Duration::from_millis(since)
    }

    /// A call begins, and is under way until the value is dropped.
    pub(crate) fn call(self: &Arc<Self>) -> Call {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.hear();
        Call(Arc::clone(self))
    }

    /// Whether nobody waits for anything on it.
    pub(super) fn is_idle(&self) -> bool {
        self.calls.load(Ordering::Relaxed) == 0 && self.unsent.is_empty()
    }

    /// Has it end. Whether it was not to end already.
    pub(super) fn cut(&self, why: Why) -> bool {
        let is_first = self.cut.set(why).is_ok();
        self.serving.wake();
        is_first
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.get().is_some()
    }

    /// Resolves when it must end. One task at a time is woken: the one that serves it.
    pub(super) fn poll_cut(&self, context: &mut Context<'_>) -> Poll<Why> {
        self.serving.register(context.waker());
        match self.cut.get() {
            Some(why) => Poll::Ready(*why),
            None => Poll::Pending,
        }
    }

    /// The bytes of the answers that it has yet to take.
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
