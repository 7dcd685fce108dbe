//! Counts topics by their kind: how many there are, on how many there is no agreement, and in how many a rewrite is due or
//! under way.
//!
//! A label per topic would grow with what members report; the kinds are few. Which topic it is, `synod topics list` says.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use synod_machine::{Change, ChangeOf, Past, StorageStateRow, StorageVersionRow};
use synod_model::{GroupResource, Persisted, TopicKind};

/// The label of a kind: its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

type Kinds = Family<KindLabel, Gauge>;

/// The gauges.
#[derive(Debug, Default)]
pub(super) struct TopicMetrics {
    reported: Kinds,
    disagreeing: Kinds,
    mixed: Kinds,
}

impl TopicMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let mut gauge = |name, help, kinds: &Kinds| registry.register(name, help, kinds.clone());
        gauge(
            "synod_topics",
            "Topics that members report, by their kind",
            &metrics.reported,
        );
        gauge(
            "synod_topic_disagreements",
            "Topics on which there is no agreement, by their kind",
            &metrics.disagreeing,
        );
        gauge(
            "synod_topics_mixed",
            "Topics of which objects may hold several values or unknown ones, so that a rewrite is due, by their kind",
            &metrics.mixed,
        );
        metrics
    }

    /// Counts what is there.
    pub(super) fn begin(&self, present: &Past<'_>) {
        for kinds in [&self.reported, &self.disagreeing, &self.mixed] {
            for kind in TopicKind::ALL {
                kinds.get_or_create(&label(*kind)).set(0);
            }
        }
        for version in present.storage_versions(None) {
            self.note_version(&version.resource, None, Some(&version.row));
        }
        for state in present.storage_states(None) {
            self.note_state(&state.resource, None, Some(&state.row));
        }
    }

    /// Follows a change.
    pub(super) fn note(&self, change: &Change) {
        if let Some(ChangeOf { key, before, after }) = change.of::<StorageVersionRow>() {
            self.note_version(key, before.map(|row| &**row), after.map(|row| &**row));
        }
        if let Some(ChangeOf { key, before, after }) = change.of::<StorageStateRow>() {
            self.note_state(key, before.map(|row| &**row), after.map(|row| &**row));
        }
    }

    fn note_version(
        &self,
        topic: &GroupResource,
        before: Option<&StorageVersionRow>,
        after: Option<&StorageVersionRow>,
    ) {
        let disagrees = |row: &StorageVersionRow| row.status.agreed.is_none();
        moved(&self.reported, topic, before.is_some(), after.is_some());
        moved(
            &self.disagreeing,
            topic,
            before.is_some_and(disagrees),
            after.is_some_and(disagrees),
        );
    }

    fn note_state(
        &self,
        topic: &GroupResource,
        before: Option<&StorageStateRow>,
        after: Option<&StorageStateRow>,
    ) {
        let is_mixed = |row: &StorageStateRow| {
            row.status.persisted.len() > 1 || row.status.persisted.contains(&Persisted::Unknown)
        };
        moved(
            &self.mixed,
            topic,
            before.is_some_and(is_mixed),
            after.is_some_and(is_mixed),
        );
    }
}

/// Counts a topic that was in a number, or is in it now.
fn moved(kinds: &Kinds, topic: &GroupResource, before: bool, after: bool) {
    let gauge = kinds.get_or_create(&label(TopicKind::of(topic)));
    gauge.inc_by(i64::from(after) - i64::from(before));
}

fn label(kind: TopicKind) -> KindLabel {
    KindLabel {
        kind: kind.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use synod_machine::State;
    use synod_model::Topic;
    use tokio::time::Instant;

    use super::*;
    use crate::metrics::AgreementMetrics;
    use crate::samples;

    /// The metrics of a replica that begins at a state.
    fn begun(state: &State) -> (Registry, AgreementMetrics) {
        let mut registry = Registry::default();
        let metrics = AgreementMetrics::new(&mut registry);
        metrics.begin(state, Instant::now());
        (registry, metrics)
    }

    fn assert_shows(registry: &Registry, lines: &[&str]) {
        let mut text = String::new();
        encode(&mut text, registry).unwrap();
        for line in lines {
            assert!(
                text.lines().any(|found| found == *line),
                "no {line} in {text}"
            );
        }
    }

    #[test]
    fn topics_are_counted_by_their_kind_by_who_follows_and_by_who_begins_later() {
        let mut state = samples::raised_state();
        let (registry, metrics) = begun(&state);
        let mut seen = state.revision();
        let [key, feature] =
            ["keys/secrets", "features/locks"].map(|text| Topic::parse(text).unwrap());
        samples::votes(&mut state, "a", &key, &["k1"]);
        samples::votes(&mut state, "b", &feature, &["v1"]);
        samples::reports(&mut state, "c", &["pods"]);
        seen = metrics.catch_up(&state, seen, Instant::now());
        let lines = [
            "synod_topics{kind=\"encoding\"} 1",
            "synod_topics{kind=\"keys\"} 1",
            "synod_topics{kind=\"features\"} 1",
            "synod_topic_disagreements{kind=\"keys\"} 0",
            // What was encrypted before the first report is unknown. What a feature was used at is not.
            "synod_topics_mixed{kind=\"keys\"} 1",
            "synod_topics_mixed{kind=\"features\"} 0",
        ];
        assert_shows(&registry, &lines);
        assert_shows(&begun(&state).0, &lines);

        // The next key is selected once both hold it, and the first of them has not adopted it.
        samples::votes(&mut state, "d", &key, &["k1", "k2"]);
        samples::votes(&mut state, "a", &key, &["k1", "k2"]);
        seen = metrics.catch_up(&state, seen, Instant::now());
        let lines = [
            "synod_topics{kind=\"keys\"} 1",
            "synod_topic_disagreements{kind=\"keys\"} 1",
            "synod_topic_disagreements{kind=\"features\"} 0",
        ];
        assert_shows(&registry, &lines);
        assert_shows(&begun(&state).0, &lines);

        samples::leaves(&mut state, "a");
        samples::leaves(&mut state, "d");
        metrics.catch_up(&state, seen, Instant::now());
        let lines = [
            "synod_topics{kind=\"keys\"} 0",
            "synod_topic_disagreements{kind=\"keys\"} 0",
            "synod_topics_mixed{kind=\"keys\"} 1",
        ];
        assert_shows(&registry, &lines);
        assert_shows(&begun(&state).0, &lines);
    }
}
