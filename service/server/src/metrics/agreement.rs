//! How long members take to get ready, and how long they disagree: followed along the history.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use synod_machine::{Change, State};
use synod_model::{Epoch, GroupResource, MemberId, Phase, Revision};
use tokio::time::Instant;

use super::long_seconds;
use crate::consensus::Consensus;

/// See the module. Times are measured by this replica's own clock, from when it saw one event to when it saw the other.
#[derive(Debug)]
pub(crate) struct AgreementMetrics {
    join_to_ready: Histogram,
    disagreement: Histogram,
    open: Mutex<Open>,
}

/// What has begun and not ended. Bounded by the members and resources that there are.
#[derive(Debug, Default)]
struct Open {
    joining: BTreeMap<MemberId, (Epoch, Instant)>,
    disagreeing: BTreeMap<GroupResource, Instant>,
}

impl AgreementMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            join_to_ready: long_seconds(),
            disagreement: long_seconds(),
            open: Mutex::default(),
        };
        registry.register(
            "synod_member_join_to_ready_seconds",
            "How long members took from joining to being ready",
            metrics.join_to_ready.clone(),
        );
        registry.register(
            "synod_disagreement_seconds",
            "How long there was no agreement on a reported resource",
            metrics.disagreement.clone(),
        );
        metrics
    }

    /// Follows the history for as long as consensus runs. What has begun before counts from now on.
    pub(crate) async fn follow(self: Arc<Self>, consensus: Consensus) {
        let mut progress = consensus.subscribe();
        let mut seen = self.begin(&consensus.published().state, Instant::now());
        while progress.changed().await.is_ok() {
            seen = self.catch_up(&consensus.published().state, seen, Instant::now());
        }
    }

    /// Takes what is open in a state as begun now.
    fn begin(&self, state: &State, now: Instant) -> Revision {
        let present = state.present();
        let members = present.members(None);
        let joining = members.filter(|member| member.phase != Phase::Ready);
        let versions = present.storage_versions(None);
        let disagreeing = versions.filter(|version| version.row.status.agreed.is_none());
        let open = Open {
            joining: joining
                .map(|member| (member.id.clone(), (member.epoch, now)))
                .collect(),
            disagreeing: disagreeing.map(|version| (version.resource, now)).collect(),
        };
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
        state.revision()
    }

    fn catch_up(&self, state: &State, mut seen: Revision, now: Instant) -> Revision {
        loop {
            match state.history().next_after(seen) {
                Ok(Some(events)) => {
                    events
                        .changes
                        .iter()
                        .for_each(|change| self.note(change, now));
                    seen = events.revision;
                }
                Ok(None) => return seen,
                Err(_) => {
                    // A checkpoint took this replica further than the history reaches back: nothing known is true.
                    return self.begin(state, now);
                }
            }
        }
    }

    fn note(&self, change: &Change, now: Instant) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Change::Member { id, before, after } => match after {
                None => drop(open.joining.remove(id)),
                Some(after)
                    if before
                        .as_ref()
                        .is_none_or(|before| before.epoch != after.epoch) =>
                {
                    open.joining.insert(id.clone(), (after.epoch, now));
                }
                Some(after) if after.phase == Phase::Ready => {
                    if let Some((_, since)) = open.joining.remove(id) {
                        self.join_to_ready.observe((now - since).as_secs_f64());
                    }
                }
                Some(_) => {}
            },
            Change::StorageVersion {
                resource, after, ..
            } => {
                if after
                    .as_ref()
                    .is_some_and(|after| after.status.agreed.is_none())
                {
                    open.disagreeing.entry(resource.clone()).or_insert(now);
                } else if let Some(since) = open.disagreeing.remove(resource) {
                    self.disagreement.observe((now - since).as_secs_f64());
                }
            }
            Change::StorageState { .. }
            | Change::Collection { .. }
            | Change::Object { .. }
            | Change::ControllerRevision { .. }
            | Change::Migration { .. }
            | Change::Settings { .. }
            | Change::Roster { .. }
            | Change::Lease { .. }
            | Change::LeaseCandidate { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::text::encode;

    use super::*;
    use crate::samples;

    #[test]
    fn a_disagreement_that_is_older_than_the_replica_is_counted_from_its_start() {
        let mut registry = Registry::default();
        let metrics = AgreementMetrics::new(&mut registry);
        let mut state = samples::state();
        samples::reports_in(&mut state, "a", &["pods"], "v1");
        samples::reports_in(&mut state, "b", &["pods"], "v2");
        let now = Instant::now();
        let seen = metrics.begin(&state, now);
        assert_eq!(state.disagreement_count(), 1);

        samples::reports_in(&mut state, "b", &["pods"], "v1");
        metrics.catch_up(&state, seen, now + Duration::from_secs(40));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "synod_disagreement_seconds_sum 40.0",
            "synod_disagreement_seconds_count 1",
        ] {
            assert!(text.contains(line), "no {line} in {text}");
        }
    }
}
