//! What a worker does not claim again before a while has passed.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_model::MigrationId;
use tokio::time::Instant;

/// The migrations whose claims a worker gave back, each with the time before which it does not claim it again. Others may:
/// without the pause it would claim and give back as fast as the cluster answers.
#[derive(Debug, Default)]
pub(super) struct PutOff(BTreeMap<MigrationId, Instant>);

impl PutOff {
    /// How long to leave it to others still; `None`: it may be claimed.
    pub(super) fn left(&mut self, id: &MigrationId) -> Option<Duration> {
        let now = Instant::now();
        self.0.retain(|_, until| *until > now);
        self.0.get(id).map(|until| *until - now)
    }

    pub(super) fn until_later(&mut self, id: MigrationId, pause: Duration) {
        self.0.insert(id, Instant::now() + pause);
    }
}
