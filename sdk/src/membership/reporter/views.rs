//! Keeps what the watch has shown of each resource, for reports that are acknowledged later.

use std::collections::BTreeMap;

use synod_model::{GroupResource, MemberId, Revision};

use crate::gate::book::Observation;
use crate::watch::StorageVersionChange;

#[derive(Debug, Default)]
pub(super) struct Views {
    by_resource: BTreeMap<GroupResource, Observation>,
}

impl Views {
    /// Records a change of a resource; returns what is known of the resource now.
    pub(super) fn take(
        &mut self,
        revision: Revision,
        change: StorageVersionChange,
        member: &MemberId,
    ) -> (GroupResource, Observation) {
        let own = change
            .changed_entries
            .into_iter()
            .find(|entry| entry.member == *member);
        let mut seen = Observation {
            revision,
            selected: change.status.selected,
            selected_revision: change.status.selected_revision,
            own: own.map(|entry| (entry.encoding, entry.adopted_revision)),
            agreed: change.status.agreed,
            agreed_at: revision,
        };
        if seen.own.is_none()
            && let Some(before) = self.by_resource.remove(&change.resource)
        {
            // The change has no entry of this member, so the entry is as it was seen last.
            seen.own = before.own;
            seen.revision = before.revision;
        }
        self.by_resource
            .insert(change.resource.clone(), seen.clone());
        (change.resource, seen)
    }

    pub(super) fn get(&self, resource: &GroupResource) -> Option<&Observation> {
        self.by_resource.get(resource)
    }

    /// The resource of this name is gone.
    pub(super) fn remove(&mut self, name: &str) {
        if let Ok(resource) = GroupResource::parse_storage_version_name(name) {
            self.by_resource.remove(&resource);
        }
    }
}
