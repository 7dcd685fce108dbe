//! The memory of encodings: every version and hash that was ever decodable, encoded, selected, shown or stored of a resource.
//!
//! A question about a version that nobody ever heard of is not answered by yes, since it is more likely mistyped than gone.

use std::collections::BTreeMap;

use synod_model::limits::KNOWN_ENCODINGS_MAX;
use synod_model::{ApiVersion, EVIDENCE_SINCE, GroupResource, Persisted, Revision};

use crate::{State, StateStatus};

impl State {
    /// Whether the encodings of a resource are remembered: in what is not stored, nothing is encoded.
    pub(crate) fn remembers_encodings(&self, resource: &GroupResource) -> bool {
        self.machine_version >= EVIDENCE_SINCE && self.topic_kind(resource).is_stored()
    }
}

impl StateStatus {
    /// Remembers the versions, as heard of at this revision unless they were heard of before.
    pub(crate) fn remember_versions<'a>(
        &mut self,
        versions: impl IntoIterator<Item = &'a ApiVersion>,
        revision: Revision,
    ) {
        for version in versions {
            if !self.known_versions.contains_key(version) {
                self.known_versions.insert(version.clone(), revision);
            }
        }
        forget_oldest(&mut self.known_versions);
    }

    /// Remembers what the status itself names: the selected version, and what is stored or shown.
    pub(crate) fn remember_encodings(&mut self, revision: Revision) {
        let stored = self.persisted.iter().filter_map(Persisted::version);
        let named = stored.chain(&self.selected);
        let new = named.filter(|version| !self.known_versions.contains_key(*version));
        let new: Vec<ApiVersion> = new.cloned().collect();
        self.remember_versions(&new, revision);
        let nameless = self.persisted.iter().filter_map(|kept| match kept {
            Persisted::Version {
                hash,
                version: None,
            } => Some(*hash),
            Persisted::Unknown | Persisted::Version { .. } => None,
        });
        let shown = self.observation.iter();
        let shown = shown.flat_map(|observation| observation.hashes.iter().copied());
        for hash in nameless.chain(shown) {
            self.known_hashes.entry(hash).or_insert(revision);
        }
        forget_oldest(&mut self.known_hashes);
    }
}

/// Forgets those that were heard of first, beyond the bound.
fn forget_oldest<K: Clone + Ord>(known: &mut BTreeMap<K, Revision>) {
    while known.len() > KNOWN_ENCODINGS_MAX {
        let oldest = known.iter().min_by_key(|(_, revision)| **revision);
        let oldest = oldest.map(|(key, _)| key.clone());
        known.remove(&oldest.expect("there are more than the bound"));
    }
}
