//! Measures how long members take to get ready and how long disagreements last, by following the history.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use synod_machine::{Change, ChangeOf, State, StorageVersionRow};
use synod_model::{Epoch, GroupResource, Member, MemberId, Phase, Revision};
use tokio::time::Instant;

use super::long_seconds;
use crate::consensus::Consensus;

/// The two histograms. Times are by this replica's own clock, from when it saw one event to when it saw the other.
#[derive(Debug)]
pub(crate) struct AgreementMetrics {
    join_to_ready: Histogram,
    disagreement: Histogram,
    open: Mutex<Open>,
}

/// Joins and disagreements in progress. Bounded by the present members and resources.
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

    /// Follows the history for as long as consensus runs. What began before is timed from now on.
    pub(crate) async fn follow(self: Arc<Self>, consensus: Consensus) {
        let mut progress = consensus.subscribe();
        let mut seen = self.begin(&consensus.published().state, Instant::now());
        while progress.changed().await.is_ok() {
            seen = self.catch_up(&consensus.published().state, seen, Instant::now());
        }
    }

    /// Notes the joins and disagreements in progress in a state as if they began now.
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
                    // A checkpoint took this replica further than its history reaches back: start again from its state.
                    return self.begin(state, now);
                }
            }
        }
    }

    fn note(&self, change: &Change, now: Instant) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(change) = change.of::<Member>() {
            open.note_member(change, now, &self.join_to_ready);
        }
        if let Some(ChangeOf { key, after, .. }) = change.of::<StorageVersionRow>() {
            if after.is_some_and(|after| after.status.agreed.is_none()) {
                open.disagreeing.entry(key.clone()).or_insert(now);
            } else if let Some(since) = open.disagreeing.remove(key) {
                self.disagreement.observe((now - since).as_secs_f64());
            }
        }
    }
}

impl Open {
    fn note_member(&mut self, change: ChangeOf<'_, Member>, now: Instant, to_ready: &Histogram) {
        let ChangeOf { key, before, after } = change;
        let Some(after) = after else {
            self.joining.remove(key);
            return;
        };
        if before.is_none_or(|before| before.epoch != after.epoch) {
            self.joining.insert(key.clone(), (after.epoch, now));
        } else if after.phase == Phase::Ready
            && let Some((_, since)) = self.joining.remove(key)
        {
            to_ready.observe((now - since).as_secs_f64());
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
