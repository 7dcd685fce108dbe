//! Checks of what must hold after every command.

use synod_model::GroupResource;

use crate::State;
use crate::state::StorageVersion;

impl State {
    /// What must hold for a resource after every command, in production too: otherwise the replica must stop.
    pub(super) fn assert_resource_invariants(&self, resource: &GroupResource) {
        for (name, version) in self.versions_of(resource) {
            self.assert_version_invariants(&name, version);
        }
    }

    fn assert_version_invariants(&self, resource: &GroupResource, version: &StorageVersion) {
        let state = self.status(resource);
        let status = &version.row.status;
        assert_eq!(
            status.selected, state.selected,
            "{resource}: one selected version"
        );
        assert_eq!(status.agreed, state.agreed, "{resource}: one agreement");
        assert!(
            state.on_trust.is_some() || self.has_roster(resource),
            "{resource}: nothing is known for sure while nobody in particular has to speak"
        );
        assert!(
            state.agreement().is_none() || (state.absent.is_empty() && !state.contradicted),
            "{resource}: there is no agreement while somebody is missing or discovery shows otherwise"
        );
        if let Some(selected) = &state.selected {
            assert!(
                version.tally.all_decode(selected),
                "{resource}: every entry decodes the selected version {selected}"
            );
        }
        // Of a topic a collection says nothing, also where one was created before there were topics.
        let held = self.collections.get(resource);
        let held = held.filter(|_| self.counts_objects(resource));
        let counted = held.into_iter().flat_map(|held| held.encodings());
        let written = version.tally.encodings().chain(&state.selected);
        for encoding in written.chain(counted) {
            let kept = state
                .persisted
                .iter()
                .any(|kept| kept.version() == Some(encoding));
            assert!(
                kept,
                "{resource}: {encoding} may be in the store, so it is in persisted"
            );
        }
    }
}
