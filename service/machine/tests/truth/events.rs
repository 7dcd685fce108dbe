//! The events that a test must reach, or its logs would prove nothing.

use std::collections::BTreeMap;

/// An event of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Adopted,
    ClaimDelayed,
    ClaimGranted,
    LateRewriteLanded,
    LateWriteLanded,
    MemberEvicted,
    MemberReplaced,
    MigrationCompleted,
    Observed,
    ResourceForgotten,
    Restored,
    RewriteConflicted,
    SafeUnderAssumption,
    SafeWithoutAssumption,
}

/// How often each event was reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventCounts {
    counts: BTreeMap<Event, u64>,
}

impl EventCounts {
    pub(crate) fn note(&mut self, event: Event) {
        *self.counts.entry(event).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (event, count) in &other.counts {
            *self.counts.entry(*event).or_default() += count;
        }
    }

    /// The events that logs should have reached, and did not.
    pub(crate) fn missing(&self) -> Vec<Event> {
        let missing = EXPECTED
            .iter()
            .filter(|event| !self.counts.contains_key(event));
        missing.copied().collect()
    }
}

/// The events that logs must reach.
const EXPECTED: [Event; 14] = [
    Event::Adopted,
    Event::ClaimDelayed,
    Event::ClaimGranted,
    Event::LateRewriteLanded,
    Event::LateWriteLanded,
    Event::MemberEvicted,
    Event::MemberReplaced,
    Event::MigrationCompleted,
    Event::Observed,
    Event::ResourceForgotten,
    Event::Restored,
    Event::RewriteConflicted,
    Event::SafeUnderAssumption,
    Event::SafeWithoutAssumption,
];
