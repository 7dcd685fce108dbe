//! A feature whose levels come one after the other, each to one server first. What is in use rises when the last one has it,
//! whoever that is: also while another one is still on its way to the level before.

use std::collections::BTreeSet;

use std::sync::LazyLock;

use synod_client::{GroupResource, Kind, ReportEntry, Stance, StoredIn, Topic, VersionSet};
use synod_model::ApiVersion;
use synod_model::limits::VERSIONS_PER_ENTRY_MAX;

/// A level of the feature: who has one has all below it.
pub(crate) type Level = u64;

/// The highest level that can be reported.
pub(super) const LEVEL_MAX: Level = VERSIONS_PER_ENTRY_MAX as Level;

/// The topic of the feature.
pub(crate) fn gadgets() -> GroupResource {
    static TOPIC: LazyLock<Topic> = LazyLock::new(|| Topic::parse("features/gadgets").unwrap());
    TOPIC.resource().clone()
}

/// The level that a value names.
pub(crate) fn level(value: &ApiVersion) -> Level {
    let level = synod_model::feature_level(value);
    level.expect("all levels are named so").into()
}

/// What a server reports that has this level.
pub(super) fn entry(has: Level) -> ReportEntry {
    let name = |level| ApiVersion::parse(&format!("v{level}")).unwrap();
    ReportEntry {
        resource: gadgets(),
        kind: Kind::parse("Gadget").unwrap(),
        decodable: (1..=has).map(name).collect(),
        served: VersionSet::default(),
        stance: Stance::Voting {
            preferred: name(has),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}
