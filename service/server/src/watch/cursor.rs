//! One stream: a cursor into the history, which its reader pulls along.
//!
//! Nothing is queued for a stream but the fragments of the one revision that it delivers, and nobody waits for it. If it
//! does not move, the history moves on without it, and it ends with the revision to resume from.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use synod_model::Revision;
use synod_proto::{WatchFilter, v1};
use tokio::time::{Instant, Sleep};

use super::encoded::WatchMessage;
use super::{Slot, WatchesParts};
use crate::consensus::Progress;
use crate::health::Health;
use crate::seams::watch;

/// So many revisions are looked at before other tasks get their turn.
const STRIDE: usize = 256;

/// See the module.
pub(crate) struct Cursor {
    shared: Arc<WatchesParts>,
    filter: WatchFilter,
    /// Everything up to here was delivered, or waits in `ready`.
    seen: Revision,
    /// What is to be sent next.
    ready: VecDeque<WatchMessage>,
    bookmark_interval: Duration,
    /// When the last message was sent.
    sent: Instant,
    timer: Pin<Box<Sleep>>,
    progress: watch::Receiver<Progress>,
    health: Health,
    /// As of the last look at what is published.
    generation: u64,
    ended: bool,
    _slot: Slot,
}

/// What one look at the history came to.
enum Look {
    /// There is something to send.
    Found,
    /// Nothing passed the filter so far, and there is more to look at.
    More,
    /// There is nothing more yet.
    Done,
    /// What comes next is no longer kept.
    Lost(v1::WatchEndReason),
}

impl Cursor {
    /// A stream that begins after `seen`, with `first` to be sent first.
    pub(super) fn new(
        shared: Arc<WatchesParts>,
        slot: Slot,
        filter: WatchFilter,
        bookmark_interval: Duration,
        seen: Revision,
        first: WatchMessage,
    ) -> Self {
        let now = Instant::now();
        let progress = shared.consensus.subscribe();
        let health = shared.health.clone();
        let generation = shared.consensus.published().generation;
        Self {
            shared,
            filter,
            seen,
            ready: VecDeque::from([first]),
            bookmark_interval,
            sent: now,
            timer: Box::pin(tokio::time::sleep_until(now + bookmark_interval)),
            progress,
            health,
            generation,
            ended: false,
            _slot: slot,
        }
    }

    /// A stream of a single message.
    pub(super) fn ended(shared: Arc<WatchesParts>, slot: Slot, only: WatchMessage) -> Self {
        // No bookmark will ever be due.
        let interval = Duration::from_secs(1);
        let cursor = Self::new(
            shared,
            slot,
            WatchFilter::default(),
            interval,
            Revision::ZERO,
            only,
        );
        Self {
            ended: true,
            ..cursor
        }
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<WatchMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                self.sent = Instant::now();
                self.shared
                    .metrics
                    .sent(message.events(), message.more_fragments());
                return Some(message);
            }
            if self.ended {
                return None;
            }
            if self.shared.stop.is_requested() {
                self.end(v1::WatchEndReason::Shutdown);
                continue;
            }
            match self.look() {
                Look::Found => {}
                Look::More => tokio::task::yield_now().await,
                Look::Lost(reason) => self.end(reason),
                Look::Done => self.wait().await,
            }
        }
    }

    /// Looks on in the history as it is published now.
    fn look(&mut self) -> Look {
        let published = self.shared.consensus.published();
        let skipped = published.generation != self.generation;
        self.generation = published.generation;
        for _ in 0..STRIDE {
            match published.state.history().next_after(self.seen) {
                Ok(None) => return Look::Done,
                Ok(Some(events)) => {
                    self.ready
                        .extend(self.shared.encoded.messages(events, &self.filter));
                    self.seen = events.revision;
                    if !self.ready.is_empty() {
                        return Look::Found;
                    }
                }
                Err(_) if skipped => return Look::Lost(v1::WatchEndReason::Checkpoint),
                Err(_) => return Look::Lost(v1::WatchEndReason::TooSlow),
            }
        }
        Look::More
    }

    /// Waits until there may be something to send. If that takes an interval, it is a bookmark.
    async fn wait(&mut self) {
        tokio::select! {
            biased;
            () = self.shared.stop.requested() => {}
            changed = self.progress.changed() => if changed.is_err() {
                self.end(v1::WatchEndReason::Shutdown);
            },
            () = self.health.changed() => self.check_proof(),
            () = self.timer.as_mut() => {
                self.check_proof();
                // The timer is not set anew with each message, only here: one that was sent meanwhile puts it off.
                let (due, now) = (self.sent + self.bookmark_interval, Instant::now());
                if due <= now && !self.ended {
                    self.ready.push_back(self.shared.bookmark(self.seen));
                }
                self.timer.as_mut().reset(if due <= now { now + self.bookmark_interval } else { due });
            }
        }
    }

    /// Ends the stream if this replica may have missed something for a while.
    fn check_proof(&mut self) {
        if !self.health.is_proved() {
            self.end(v1::WatchEndReason::CutOff);
        }
    }

    fn end(&mut self, reason: v1::WatchEndReason) {
        self.ended = true;
        self.shared.metrics.ended(reason.as_str_name());
        let resume_revision = self.seen.next().get();
        let ended = v1::WatchEnded {
            resume_revision,
            reason: reason.into(),
        };
        self.ready
            .push_back(super::message(v1::watch_response::Message::Ended(ended)));
    }
}
