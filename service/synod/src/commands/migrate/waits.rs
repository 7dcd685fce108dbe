//! What a worker waits for: said once, and again from time to time, however often it asks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_client::MigrationId;
use tokio::time::Instant;

/// How long what a worker waits for is not said again, unless it waits for something else by then.
const SAID_AGAIN: Duration = Duration::from_secs(60);

/// The migrations that cannot be worked at yet.
#[derive(Debug, Default)]
pub(super) struct Waits(BTreeMap<MigrationId, Wait>);

#[derive(Debug, Default)]
struct Wait {
    /// What was said last, and when.
    said: Option<(String, Instant)>,
    /// Before this the worker does not claim it again, since it has given it back to let others have it.
    left_until: Option<Instant>,
}

impl Waits {
    /// Forgets all but these.
    pub(super) fn keep(&mut self, pending: &BTreeSet<&MigrationId>) {
        self.0.retain(|id, _| pending.contains(id));
    }

    /// Whether this is to be said: it is another reason than before, or was said long ago.
    pub(super) fn is_news(&mut self, id: &MigrationId, why: &str) -> bool {
        let now = Instant::now();
        let wait = self.0.entry(id.clone()).or_default();
        let is_old = wait
            .said
            .as_ref()
            .is_some_and(|(said, at)| said == why && now - *at < SAID_AGAIN);
        if !is_old {
            wait.said = Some((why.to_owned(), now));
        }
        !is_old
    }

    /// Leaves a migration to other workers for a while.
    pub(super) fn leave_to_others(&mut self, id: &MigrationId, pause: Duration) {
        let wait = self.0.entry(id.clone()).or_default();
        wait.left_until = Some(Instant::now() + pause);
    }

    pub(super) fn is_left_to_others(&self, id: &MigrationId) -> bool {
        let wait = self.0.get(id);
        let until = wait.and_then(|wait| wait.left_until);
        until.is_some_and(|until| Instant::now() < until)
    }
}

#[cfg(test)]
mod tests;
