//! What a worker waits for: said once, and again from time to time, however often it asks; and how long it leaves to others
//! what it has given back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_client::MigrationId;
use tokio::time::Instant;

/// How long what a worker waits for is not said again.
const SAID_AGAIN: Duration = Duration::from_secs(60);

/// How many reasons are kept in mind for a migration; the oldest goes first.
const REASONS: usize = 8;

/// How long a migration is left to others after it was given back once, and at most. Each time in a row doubles it.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The migrations that cannot be worked at yet.
#[derive(Debug, Default)]
pub(super) struct Waits(BTreeMap<MigrationId, Wait>);

#[derive(Debug, Default)]
struct Wait {
    /// What was said, and when, the oldest first.
    said: Vec<(String, Instant)>,
    left: Option<Left>,
    /// Since when the API server does not serve its resource.
    unserved: Option<Instant>,
}

/// That a migration is left to others, since it was given back.
#[derive(Clone, Copy, Debug)]
struct Left {
    /// Before this the worker does not claim it again.
    until: Instant,
    pause: Duration,
    /// How many objects were done when it was given back.
    done: u64,
}

impl Waits {
    /// Forgets what is over: all but what is open. Another worker may have one of them meanwhile, or this worker has yet to
    /// see that it gave it back: neither ends a pause.
    pub(super) fn keep(&mut self, open: &BTreeSet<MigrationId>) {
        self.0.retain(|id, _| open.contains(id));
    }

    /// Whether this is to be said: it was not said lately.
    pub(super) fn is_news(&mut self, id: &MigrationId, why: &str) -> bool {
        let now = Instant::now();
        let said = &mut self.0.entry(id.clone()).or_default().said;
        said.retain(|(_, at)| now - *at < SAID_AGAIN);
        if said.iter().any(|(said, _)| said == why) {
            return false;
        }
        if said.len() >= REASONS {
            said.remove(0);
        }
        said.push((why.to_owned(), now));
        true
    }

    /// How long the resource of a migration has not been served, as far as this worker has seen.
    pub(super) fn unserved_for(&mut self, id: &MigrationId) -> Duration {
        let wait = self.0.entry(id.clone()).or_default();
        wait.unserved.get_or_insert_with(Instant::now).elapsed()
    }

    /// Forgets that the resource of a migration was not served.
    pub(super) fn forget_unserved(&mut self, id: &MigrationId) {
        if let Some(wait) = self.0.get_mut(id) {
            wait.unserved = None;
        }
    }

    /// Leaves a migration to other workers for a while, of which so many objects are done.
    pub(super) fn leave_to_others(&mut self, id: &MigrationId, done: u64) {
        let wait = self.0.entry(id.clone()).or_default();
        let pause = match wait.left {
            Some(before) if before.done == done => (before.pause * 2).min(PAUSE_MAX),
            _ => PAUSE,
        };
        wait.left = Some(Left {
            until: Instant::now() + pause,
            pause,
            done,
        });
    }

    pub(super) fn is_left_to_others(&self, id: &MigrationId) -> bool {
        let left = self.0.get(id).and_then(|wait| wait.left);
        left.is_some_and(|left| Instant::now() < left.until)
    }

    /// Whether anything is left to others now.
    pub(super) fn leaves_any(&self) -> bool {
        self.0.keys().any(|id| self.is_left_to_others(id))
    }
}

#[cfg(test)]
mod tests;
