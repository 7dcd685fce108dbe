//! Holds back events that the consensus library repeats: while a replica is down, the leader logs an error with every
//! heartbeat, up to 13 times a second. Some events are let through, and the others are counted and reported.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter};

use super::dropped::dropped_lines;

/// The number of events of one call site that are let through in a [`PERIOD`].
const EVENTS_MAX: u32 = 3;

/// After this time a call site may log again.
const PERIOD: Duration = Duration::from_secs(10);

/// The library whose warnings and errors are held back.
const LIBRARY: &str = "openraft";

/// The filter that lets events through or holds them back. Clones share their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparing {
    places: Arc<Mutex<BTreeMap<CallSite, Said>>>,
    ending: Arc<AtomicBool>,
}

/// The switch to set when the replica is asked to end. From then on the library's errors are dropped: it reports that
/// its own task has ended, which was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Ending(Arc<AtomicBool>);

/// Reports periodically how many events were held back.
#[derive(Debug)]
pub(crate) struct HeldBack(Sparing);

/// A call site of the program. Their number is fixed, so the map of them is bounded.
type CallSite = (&'static str, Option<&'static str>, Option<u32>);

/// The events of a call site since the period began.
#[derive(Debug)]
struct Said {
    since: Instant,
    let_through: u32,
    held_back: u64,
}

impl Sparing {
    /// The task that reports how many events were held back.
    pub(super) fn held_back(&self) -> HeldBack {
        HeldBack(self.clone())
    }

    /// The switch to set when the replica is asked to end.
    pub(super) fn ending(&self) -> Ending {
        Ending(Arc::clone(&self.ending))
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<CallSite, Said>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another event of this call site is let through.
    fn lets_through(&self, metadata: &Metadata<'static>, now: Instant) -> bool {
        let place = (metadata.target(), metadata.file(), metadata.line());
        let mut places = self.places();
        let said = places.entry(place).or_insert(Said {
            since: now,
            let_through: 0,
            held_back: 0,
        });
        if now >= said.since + PERIOD {
            said.since = now;
            said.let_through = 0;
        }
        let is_let_through = said.let_through < EVENTS_MAX;
        if is_let_through {
            said.let_through += 1;
        } else {
            said.held_back += 1;
        }
        is_let_through
    }

    /// The call sites and numbers of the events that were held back since the last call.
    fn take(&self) -> Vec<(CallSite, u64)> {
        let mut places = self.places();
        let held_back = places
            .iter_mut()
            .map(|(place, said)| (*place, std::mem::take(&mut said.held_back)));
        held_back.filter(|(_, events)| *events > 0).collect()
    }
}

impl<S: Subscriber> Filter<S> for Sparing {
    fn enabled(&self, _metadata: &Metadata<'_>, _context: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _context: &Context<'_, S>) -> bool {
        let metadata = event.metadata();
        // Only warnings and errors are held back: a filter that asks for more detail shows all of it.
        let is_spared = *metadata.level() <= Level::WARN && metadata.target().starts_with(LIBRARY);
        !is_spared
            || (!self.ending.load(Ordering::Relaxed) && self.lets_through(metadata, Instant::now()))
    }
}

impl Ending {
    /// The replica is asked to end.
    pub(crate) fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl HeldBack {
    /// Reports held-back events and dropped lines, for as long as it is polled.
    pub(crate) async fn tell(self) {
        let mut dropped = 0;
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            period.tick().await;
            let lines = dropped_lines();
            if lines > dropped {
                let more = lines - dropped;
                tracing::warn!(
                    lines = more,
                    "dropped lines of the log, which nobody reads fast enough"
                );
                dropped = lines;
            }
            for ((target, _, line), events) in self.0.take() {
                tracing::warn!(
                    target,
                    line,
                    events,
                    "held back events like one that was logged"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
    use tracing_subscriber::{fmt, registry};

    use super::*;
    use crate::logging::lines::Lines;

    fn heartbeat() {
        tracing::warn!(target: "openraft::replication", "no answer");
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_library_repeats_is_held_back_and_told_by_number() {
        let (lines, sparing) = (Lines::default(), Sparing::default());
        let held_back = sparing.held_back();
        let log = fmt::layer().with_ansi(false).with_writer(lines.clone());
        let _logging = tracing::subscriber::set_default(registry().with(log.with_filter(sparing)));
        let telling = held_back.tell();
        tokio::pin!(telling);
        for _ in 0..100 {
            heartbeat();
            tracing::warn!(target: "synod_server", "its own");
        }
        tracing::warn!(target: "openraft::engine", "another place");
        assert_eq!(lines.with("no answer"), 3);
        assert_eq!(lines.with("its own"), 100);
        assert_eq!(lines.with("another place"), 1);

        let told = tokio::time::timeout(PERIOD * 2, &mut telling).await;
        assert!(told.is_err(), "it tells for as long as it is run");
        assert_eq!(lines.with("events=97"), 1);
        assert_eq!(lines.with("held back"), 1, "and nothing twice");
        heartbeat();
        assert_eq!(lines.with("no answer"), 4, "it may say so again");
    }
}
