//! The events that a test must reach, or its logs would prove nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::abilities::Ability;

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

    /// The events that logs with these abilities should have reached, and did not.
    pub(crate) fn missing(&self, abilities: &BTreeSet<Ability>) -> Vec<Event> {
        let special = SPECIAL.iter();
        let special = special.filter(|(ability, _)| abilities.contains(ability));
        let expected = PLAIN.iter().chain(special.map(|(_, event)| event));
        let missing = expected.filter(|event| !self.counts.contains_key(event));
        missing.copied().collect()
    }
}

/// The events that every version of the machine must reach.
const PLAIN: [Event; 11] = [
    Event::Adopted,
    Event::ClaimDelayed,
    Event::ClaimGranted,
    Event::LateWriteLanded,
    Event::MemberReplaced,
    Event::MigrationCompleted,
    Event::Observed,
    Event::Restored,
    Event::RewriteConflicted,
    Event::SafeUnderAssumption,
    Event::SafeWithoutAssumption,
];

/// The events that an ability brings.
const SPECIAL: [(Ability, Event); 3] = [
    (Ability::LateRewrites, Event::LateRewriteLanded),
    (Ability::Evictions, Event::MemberEvicted),
    (Ability::ForgottenStates, Event::ResourceForgotten),
];
