use std::collections::BTreeMap;
use std::sync::Arc;

use synod_model::{
    Collection, ControllerRevision, GroupResource, HolderIdentity, Lease, LeaseCandidate, LeaseKey,
    Member, MemberId, Migration, MigrationId, Namespace, NamespacedName, ObjectName, ResourceScope,
    Roster, Settings,
};

use crate::{
    ChangeType, Event, ObjectKind, StorageState, StorageVersion, StorageVersionChange,
    WatchedObject,
};

/// The cached objects, all at one revision.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) members: BTreeMap<MemberId, Arc<Member>>,
    pub(super) storage_versions: BTreeMap<GroupResource, Arc<StorageVersion>>,
    pub(super) storage_states: BTreeMap<GroupResource, Arc<StorageState>>,
    pub(super) settings: Option<Arc<Settings>>,
    pub(super) collections: BTreeMap<GroupResource, Arc<Collection>>,
    pub(super) controller_revisions: BTreeMap<NamespacedName, Arc<ControllerRevision>>,
    pub(super) leases: BTreeMap<LeaseKey, Arc<Lease>>,
    pub(super) lease_candidates: BTreeMap<(LeaseKey, HolderIdentity), Arc<LeaseCandidate>>,
    pub(super) migrations: BTreeMap<MigrationId, Arc<Migration>>,
    pub(super) rosters: BTreeMap<ResourceScope, Arc<Roster>>,
}

impl Cache {
    /// Applies the events of one revision, or of a resync.
    pub(super) fn apply(&mut self, events: Vec<Event>) {
        for mut event in events {
            match (event.change, event.object.take()) {
                (ChangeType::Removed, _) => self.remove(&event),
                (ChangeType::Added | ChangeType::Modified, Some(object)) => self.put(object),
                (ChangeType::Added | ChangeType::Modified, None) => {}
            }
        }
    }

    fn remove(&mut self, event: &Event) {
        let name = event.name.as_str();
        match event.kind {
            ObjectKind::Member => {
                self.members.remove(name);
            }
            ObjectKind::StorageVersion => {
                if let Ok(resource) = GroupResource::parse_storage_version_name(name) {
                    self.storage_versions.remove(&resource);
                }
            }
            ObjectKind::StorageState => {
                if let Ok(resource) = GroupResource::parse_qualified(name) {
                    self.storage_states.remove(&resource);
                }
            }
            ObjectKind::Settings => self.settings = None,
            ObjectKind::Collection => {
                if let Ok(resource) = GroupResource::parse_qualified(name) {
                    self.collections.remove(&resource);
                }
            }
            // Objects of collections have caches of their own, in `objects`.
            ObjectKind::Object => {}
            ObjectKind::ControllerRevision => {
                let space = Namespace::parse(&event.namespace).ok();
                if let Ok(name) = ObjectName::parse(name) {
                    let key = NamespacedName::new(space.as_ref(), &name);
                    self.controller_revisions.remove(&key);
                }
            }
            ObjectKind::Lease => {
                if let Ok(key) = LeaseKey::new(&event.namespace, name) {
                    self.leases.remove(&key);
                }
            }
            ObjectKind::LeaseCandidate => {
                let identity = HolderIdentity::parse(name).ok();
                if let (Some(lease), Some(identity)) = (event.lease.clone(), identity) {
                    self.lease_candidates.remove(&(lease, identity));
                }
            }
            ObjectKind::Roster => {
                if let Ok(scope) = ResourceScope::parse(name) {
                    self.rosters.remove(&scope);
                }
            }
            ObjectKind::Migration => {
                if let Ok(id) = MigrationId::parse(name) {
                    self.migrations.remove(&id);
                }
            }
        }
    }

    fn put(&mut self, object: WatchedObject) {
        match object {
            WatchedObject::Member(member) => {
                self.members.insert(member.id.clone(), Arc::new(member));
            }
            WatchedObject::StorageVersion(change) => self.put_storage_version(change),
            WatchedObject::StorageState(state) => {
                self.storage_states
                    .insert(state.resource.clone(), Arc::new(*state));
            }
            WatchedObject::Settings(settings) => self.settings = Some(Arc::new(settings)),
            WatchedObject::Collection(collection) => {
                self.collections
                    .insert(collection.resource.clone(), Arc::new(collection));
            }
            WatchedObject::Stored(_) => {}
            WatchedObject::ControllerRevision(snapshot) => {
                self.controller_revisions
                    .insert(snapshot.key.clone(), Arc::new(snapshot));
            }
            WatchedObject::Lease(lease) => {
                self.leases.insert(lease.key.clone(), Arc::new(lease));
            }
            WatchedObject::LeaseCandidate(candidate) => {
                let key = (candidate.lease.clone(), candidate.identity.clone());
                self.lease_candidates.insert(key, Arc::new(candidate));
            }
            WatchedObject::Roster(roster) => {
                self.rosters.insert(roster.scope.clone(), Arc::new(roster));
            }
            WatchedObject::Migration(migration) => {
                self.migrations
                    .insert(migration.id.clone(), Arc::new(*migration));
            }
        }
    }

    /// Adds what changed to the known entries; if the storage version was created anew, it begins without entries.
    fn put_storage_version(&mut self, change: StorageVersionChange) {
        let present = self.storage_versions.get(&change.resource);
        let same = present.filter(|present| present.metadata.uid == change.metadata.uid);
        let mut entries: BTreeMap<_, _> = same
            .iter()
            .flat_map(|present| &present.entries)
            .map(|entry| (entry.member.clone(), entry.clone()))
            .collect();
        for member in &change.removed_members {
            entries.remove(member);
        }
        for entry in change.changed_entries {
            entries.insert(entry.member.clone(), entry);
        }
        let version = StorageVersion {
            name: change.name,
            metadata: change.metadata,
            resource: change.resource.clone(),
            entries: entries.into_values().collect(),
            status: change.status,
        };
        self.storage_versions
            .insert(change.resource, Arc::new(version));
    }
}
