//! Measures how long members take to report and to get ready, and how long disagreements last, by following the history.
//!
//! Two objectives of KEP-2339 are kept by them: what a server encodes is reported within a minute of its start, and there
//! is agreement within a minute of the end of an upgrade. A server has started when it has joined, and an upgrade has ended
//! when nobody joins or goes any more. Histograms tell how often they were kept, gauges what is late now: who never reports
//! is in no histogram.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use synod_machine::{Change, ChangeOf, State, StorageVersionRow};
use synod_model::{Epoch, GroupResource, Member, MemberId, Phase, Revision};
use tokio::time::Instant;

use super::long_seconds;
use super::topics::TopicMetrics;
use crate::consensus::Consensus;

/// The upper ends of the buckets of what has an objective, which is one of them.
const OBJECTIVE_BUCKETS: [f64; 12] = [
    0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 21_600.0,
];

/// The histograms and gauges. Times are by this replica's own clock, from when it saw one event to when it saw the other.
#[derive(Debug)]
pub(crate) struct AgreementMetrics {
    timed: Timed,
    unreported: Gauge<f64, AtomicU64>,
    missing: Gauge<f64, AtomicU64>,
    topics: TopicMetrics,
    open: Mutex<Open>,
}

/// What is recorded when it has ended.
#[derive(Debug)]
struct Timed {
    join_to_report: Histogram,
    join_to_ready: Histogram,
    disagreement: Histogram,
    /// How long an agreement took from when nobody joined or went any more.
    delay: Histogram,
}

/// What is in progress. Bounded by the present members and resources.
#[derive(Debug, Default)]
struct Open {
    unreported: BTreeMap<MemberId, Instant>,
    joining: BTreeMap<MemberId, (Epoch, Instant)>,
    disagreeing: BTreeMap<GroupResource, Instant>,
    /// When a member joined or went last.
    moved: Option<Instant>,
}

impl AgreementMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let objective = || Histogram::new(OBJECTIVE_BUCKETS);
        let metrics = Self {
            timed: Timed {
                join_to_report: objective(),
                join_to_ready: long_seconds(),
                disagreement: long_seconds(),
                delay: objective(),
            },
            unreported: Gauge::default(),
            missing: Gauge::default(),
            topics: TopicMetrics::new(registry),
            open: Mutex::default(),
        };
        let timed = &metrics.timed;
        let mut histogram = |name, help, histogram: &Histogram| {
            registry.register(name, help, histogram.clone());
        };
        histogram(
            "synod_member_join_to_report_seconds",
            "How long members took from joining to their first report",
            &timed.join_to_report,
        );
        histogram(
            "synod_member_join_to_ready_seconds",
            "How long members took from joining to being ready",
            &timed.join_to_ready,
        );
        histogram(
            "synod_disagreement_seconds",
            "How long there was no agreement on a reported resource",
            &timed.disagreement,
        );
        histogram(
            "synod_agreement_delay_seconds",
            "How long an agreement on a reported resource took from when no member joined or went any more",
            &timed.delay,
        );
        registry.register(
            "synod_member_unreported_seconds",
            "For how long a member has been without its first report; the longest, 0 if there is none",
            metrics.unreported.clone(),
        );
        registry.register(
            "synod_agreement_missing_seconds",
            "For how long there has been no agreement although no member joined or went; the longest, 0 if there is none",
            metrics.missing.clone(),
        );
        metrics
    }

    /// Sets the gauges of what has not ended yet.
    pub(crate) fn observe(&self, now: Instant) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let for_seconds = |since: Option<Instant>| {
            since.map_or(0.0, |since| {
                now.saturating_duration_since(since).as_secs_f64()
            })
        };
        self.unreported
            .set(for_seconds(open.unreported.values().min().copied()));
        let missing = open.disagreeing.values().min();
        self.missing
            .set(for_seconds(missing.map(|since| open.settled_since(*since))));
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
    pub(super) fn begin(&self, state: &State, now: Instant) -> Revision {
        let present = state.present();
        self.topics.begin(&present);
        let mut open = Open {
            moved: Some(now),
            ..Open::default()
        };
        for member in present.members(None) {
            if !member.reported {
                open.unreported.insert(member.id.clone(), now);
            }
            if member.phase != Phase::Ready {
                open.joining.insert(member.id.clone(), (member.epoch, now));
            }
        }
        let versions = present.storage_versions(None);
        let disagreeing = versions.filter(|version| version.row.status.agreed.is_none());
        open.disagreeing = disagreeing.map(|version| (version.resource, now)).collect();
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
        state.revision()
    }

    pub(super) fn catch_up(&self, state: &State, mut seen: Revision, now: Instant) -> Revision {
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
        self.topics.note(change);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(change) = change.of::<Member>() {
            open.note_member(change, now, &self.timed);
        }
        if let Some(change) = change.of::<StorageVersionRow>() {
            open.note_resource(change, now, &self.timed);
        }
    }
}

impl Open {
    fn note_member(&mut self, change: ChangeOf<'_, Member>, now: Instant, timed: &Timed) {
        let ChangeOf { key, before, after } = change;
        let Some(after) = after else {
            self.joining.remove(key);
            self.unreported.remove(key);
            self.moved = Some(now);
            return;
        };
        if before.is_none_or(|before| before.epoch != after.epoch) {
            self.joining.insert(key.clone(), (after.epoch, now));
            self.unreported.insert(key.clone(), now);
            self.moved = Some(now);
        }
        if after.reported
            && let Some(since) = self.unreported.remove(key)
        {
            timed.join_to_report.observe((now - since).as_secs_f64());
        }
        if after.phase == Phase::Ready
            && let Some((_, since)) = self.joining.remove(key)
        {
            timed.join_to_ready.observe((now - since).as_secs_f64());
        }
    }

    fn note_resource(
        &mut self,
        change: ChangeOf<'_, StorageVersionRow>,
        now: Instant,
        timed: &Timed,
    ) {
        let ChangeOf { key, after, .. } = change;
        if after.is_some_and(|after| after.status.agreed.is_none()) {
            self.disagreeing.entry(key.clone()).or_insert(now);
        } else if let Some(since) = self.disagreeing.remove(key) {
            timed.disagreement.observe((now - since).as_secs_f64());
            // What is gone was not agreed on.
            if after.is_some() {
                let settled = self.settled_since(since);
                timed.delay.observe((now - settled).as_secs_f64());
            }
        }
    }

    /// Since when a disagreement that began at `since` has had nothing to wait for: nobody joined or went any more.
    fn settled_since(&self, since: Instant) -> Instant {
        self.moved.map_or(since, |moved| moved.max(since))
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

    /// The lines of the metrics, `seconds` after `start`.
    fn lines(
        metrics: &AgreementMetrics,
        registry: &Registry,
        start: Instant,
        seconds: u64,
    ) -> String {
        metrics.observe(start + Duration::from_secs(seconds));
        let mut text = String::new();
        encode(&mut text, registry).unwrap();
        text
    }

    // Guarantee: I-02
    #[test]
    fn a_report_is_timed_from_the_join_and_one_that_never_comes_is_seen_too() {
        let mut registry = Registry::default();
        let metrics = AgreementMetrics::new(&mut registry);
        let mut state = samples::state();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut seen = metrics.begin(&state, start);

        let member = MemberId::parse("a").unwrap();
        samples::joins(&mut state, &member, "first");
        seen = metrics.catch_up(&state, seen, at(10));
        let text = lines(&metrics, &registry, start, 100);
        assert!(
            text.contains("synod_member_unreported_seconds 90.0"),
            "{text}"
        );
        assert!(
            text.contains("synod_member_join_to_report_seconds_count 0"),
            "{text}"
        );

        // A restart begins anew, and its report ends the wait.
        samples::joins(&mut state, &member, "second");
        seen = metrics.catch_up(&state, seen, at(110));
        samples::reports(&mut state, "a", &["pods"]);
        metrics.catch_up(&state, seen, at(150));
        let text = lines(&metrics, &registry, start, 200);
        for line in [
            "synod_member_unreported_seconds 0.0",
            "synod_member_join_to_report_seconds_count 1",
        ] {
            assert!(text.contains(line), "no {line} in {text}");
        }
    }

    // Guarantee: I-02
    #[test]
    fn an_agreement_is_late_only_from_when_nobody_joins_or_goes_any_more() {
        let mut registry = Registry::default();
        let metrics = AgreementMetrics::new(&mut registry);
        let mut state = samples::state();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut seen = metrics.begin(&state, start);

        samples::reports_in(&mut state, "a", &["pods"], "v1");
        samples::reports_in(&mut state, "b", &["pods"], "v2");
        seen = metrics.catch_up(&state, seen, at(10));
        let text = lines(&metrics, &registry, start, 30);
        assert!(
            text.contains("synod_agreement_missing_seconds 20.0"),
            "{text}"
        );

        // The upgrade goes on: a third one joins.
        samples::joins(&mut state, &MemberId::parse("c").unwrap(), "first");
        seen = metrics.catch_up(&state, seen, at(40));
        let text = lines(&metrics, &registry, start, 45);
        assert!(
            text.contains("synod_agreement_missing_seconds 5.0"),
            "{text}"
        );

        samples::reports_in(&mut state, "c", &["pods"], "v2");
        samples::reports_in(&mut state, "a", &["pods"], "v2");
        metrics.catch_up(&state, seen, at(60));
        assert_eq!(state.disagreement_count(), 0);
        let text = lines(&metrics, &registry, start, 100);
        for line in [
            "synod_agreement_missing_seconds 0.0",
            "synod_disagreement_seconds_sum 50.0",
            "synod_agreement_delay_seconds_count 1",
            "synod_agreement_delay_seconds_sum 0.0",
        ] {
            assert!(text.contains(line), "no {line} in {text}");
        }
    }
}
