//! What a worker does not claim again before a while has passed.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_model::MigrationId;
use tokio::time::Instant;

/// How long a migration is left to others after its claim was given back once, and at most. Each time in a row doubles it:
/// a claim and its release are two revisions for whoever watches, and a store may be unready for days.
const PAUSE: Duration = Duration::from_secs(5);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The migrations whose claims a worker gave back. Others may claim them: without the pause the worker would claim and give
/// back as fast as the cluster answers.
#[derive(Debug, Default)]
pub(super) struct PutOff(BTreeMap<MigrationId, Pause>);

#[derive(Clone, Copy, Debug)]
struct Pause {
    /// Before this the worker does not claim it again.
    until: Instant,
    pause: Duration,
    /// How many objects were done when it was claimed.
    done: u64,
}

impl PutOff {
    /// Forgets all but these.
    pub(super) fn keep(&mut self, is_open: impl Fn(&MigrationId) -> bool) {
        self.0.retain(|id, _| is_open(id));
    }

    /// How long to leave it to others still; `None`: it may be claimed.
    pub(super) fn left(&self, id: &MigrationId) -> Option<Duration> {
        let left = self.0.get(id)?.until.duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Leaves a migration to others that was claimed when so many of its objects were done.
    pub(super) fn put_off(&mut self, id: MigrationId, done: u64) {
        let pause = match self.0.get(&id) {
            Some(before) if before.done == done => (before.pause * 2).min(PAUSE_MAX),
            _ => PAUSE,
        };
        let until = Instant::now() + pause;
        self.0.insert(id, Pause { until, pause, done });
    }
}

#[cfg(test)]
mod tests;
