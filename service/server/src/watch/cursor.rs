//! The cursor of one stream in the history, which the stream's reader advances.
//!
//! Only the fragments of the one revision being delivered are queued, and nothing waits for the stream. If its reader
//! is too slow, the history drops events before they are read, and the stream ends with the revision to resume from.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use synod_machine::EventScope;
use synod_model::Revision;
use synod_proto::{WatchFilter, v1};
use tokio::time::{Instant, Sleep};

use super::encoded::WatchMessage;
use super::filter::Wanted;
use super::{Slot, WatchesParts};
use crate::access::{Lasting, Standing};
use crate::consensus::Progress;
use crate::health::Health;
use crate::seams::watch;

/// The most revisions that are checked before other tasks get their turn.
const STRIDE: usize = 256;

/// The cursor of one stream.
pub(crate) struct Cursor {
    shared: Arc<WatchesParts>,
    wanted: Wanted,
    /// Everything up to this revision was delivered, or waits in `ready`.
    seen: Revision,
    /// The messages to be sent next.
    ready: VecDeque<WatchMessage>,
    /// The time at which the last message was sent.
    sent: Instant,
    timer: Pin<Box<Sleep>>,
    progress: watch::Receiver<Progress>,
    health: Health,
    /// The generation of the state at the last look.
    generation: u64,
    ended: bool,
    /// Whether its reader was told that it has caught up, since it last got a message.
    has_told: bool,
    slot: Option<Slot>,
    /// What the caller may do must stay as it is.
    rests_on: Lasting,
}

/// What a reader of a cursor gets at a time.
pub(crate) enum Step {
    /// A message to send.
    Message(WatchMessage),
    /// Everything that there is has been delivered. Told once after each message.
    CaughtUp,
    /// The stream has ended.
    Ended,
}

/// The result of one look at the history.
enum Look {
    /// There is a message to send.
    Found,
    /// No event passed the filter so far, and there are more revisions to check.
    More,
    /// All published revisions were checked.
    Done,
    /// The next revision is no longer kept.
    Lost(v1::WatchEndReason),
}

impl Cursor {
    /// A stream that begins after `seen` and sends `first` first.
    pub(super) fn new(
        shared: Arc<WatchesParts>,
        slot: Slot,
        wanted: Wanted,
        seen: Revision,
        first: WatchMessage,
    ) -> Self {
        let now = Instant::now();
        let progress = shared.consensus.subscribe();
        let health = shared.health.clone();
        let generation = shared.consensus.published().generation;
        Self {
            shared,
            seen,
            ready: VecDeque::from([first]),
            sent: now,
            timer: Box::pin(tokio::time::sleep_until(now + wanted.bookmark_interval)),
            wanted,
            progress,
            health,
            generation,
            ended: false,
            has_told: false,
            slot: Some(slot),
            rests_on: Standing::of_anybody().lasting(),
        }
    }

    /// The stream, which ends when what it rests on has ended.
    pub(crate) fn resting_on(self, rests_on: Lasting) -> Self {
        Self { rests_on, ..self }
    }

    /// A stream of a single message.
    pub(super) fn ended(shared: Arc<WatchesParts>, slot: Slot, only: WatchMessage) -> Self {
        // The stream ends after its message, so no bookmark will be due.
        let wanted = Wanted {
            filter: WatchFilter::default(),
            scope: EventScope::All,
            shows_callers: false,
            bookmark_interval: Duration::from_secs(1),
        };
        let cursor = Self::new(shared, slot, wanted, Revision::ZERO, only);
        Self {
            ended: true,
            ..cursor
        }
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<WatchMessage> {
        loop {
            match self.step().await {
                Step::Message(message) => {
                    self.sent(&message, 1);
                    return Some(message);
                }
                Step::CaughtUp => {}
                Step::Ended => return None,
            }
        }
    }

    /// The next step of the stream. The reader of a message says by [`Self::sent`] to how many watches it was sent.
    pub(crate) async fn step(&mut self) -> Step {
        loop {
            if let Some(message) = self.ready.pop_front() {
                self.sent = Instant::now();
                self.has_told = false;
                return Step::Message(message);
            }
            if self.ended {
                return Step::Ended;
            }
            if self.shared.stop.is_requested() {
                self.end(v1::WatchEndReason::Shutdown);
                continue;
            }
            if self.rests_on.has_ended() {
                self.end(v1::WatchEndReason::Rights);
                continue;
            }
            match self.look() {
                Look::Found => {}
                Look::More => tokio::task::yield_now().await,
                Look::Lost(reason) => self.end(reason),
                Look::Done if !self.has_told => {
                    self.has_told = true;
                    return Step::CaughtUp;
                }
                Look::Done => self.wait().await,
            }
        }
    }

    /// Counts a message that was sent to this many watches.
    pub(crate) fn sent(&self, message: &WatchMessage, watches: usize) {
        let metrics = &self.shared.metrics;
        metrics.sent(message.events() * watches, message.more_fragments());
    }

    /// The revision up to which everything was read.
    pub(crate) fn seen(&self) -> Revision {
        self.seen
    }

    /// What the caller of the watch wants.
    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The place of the stream, for who shares this cursor with others. Without it, the cursor holds none.
    pub(crate) fn take_slot(&mut self) -> Option<Slot> {
        self.slot.take()
    }

    /// Reads on in the published history.
    fn look(&mut self) -> Look {
        let published = self.shared.consensus.published();
        let skipped = published.generation != self.generation;
        self.generation = published.generation;
        for _ in 0..STRIDE {
            let history = published.state.history();
            match history.next_in(self.wanted.scope, self.seen) {
                Ok(None) => return Look::Done,
                Ok(Some(events)) => {
                    let messages = self.shared.encoded.messages_for(events, &self.wanted);
                    self.ready.extend(messages);
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

    /// Waits until there may be something to send. A bookmark is sent once nothing was sent for an interval.
    async fn wait(&mut self) {
        tokio::select! {
            biased;
            () = self.shared.stop.requested() => {}
            changed = self.progress.changed() => if changed.is_err() {
                self.end(v1::WatchEndReason::Shutdown);
            },
            () = self.health.changed() => self.check_proof(),
            () = self.rests_on.changed() => {}
            () = self.timer.as_mut() => {
                self.check_proof();
                // The timer is not reset with each message but only here: a message sent meanwhile defers the bookmark.
                let (due, now) = (self.sent + self.wanted.bookmark_interval, Instant::now());
                if due <= now && !self.ended {
                    self.ready.push_back(self.shared.bookmark(self.seen));
                }
                self.timer.as_mut().reset(if due <= now { now + self.wanted.bookmark_interval } else { due });
            }
        }
    }

    /// Ends the stream if this replica cannot prove that it has missed nothing lately.
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
