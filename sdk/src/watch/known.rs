//! What a watch has delivered, as far as it is needed to find out the changes after a gap.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{GroupResource, LeaseKey, MemberId, Metadata, Revision, Uid};

use super::listing::Listed;
use super::{ChangeType, Event, WatchedObject};
use synod_model::ObjectKind;

/// The objects that were delivered and not removed, each by its identity and version alone.
#[derive(Debug, Default)]
pub(super) struct Known {
    objects: BTreeMap<ObjectAddress, Version>,
}

/// The key by which an object is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectAddress {
    kind: ObjectKind,
    resource: Option<GroupResource>,
    namespace: String,
    name: String,
    /// If it is a candidate: its lease.
    lease: Option<LeaseKey>,
}

/// The identity of an object, and the revision of its last delivered change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    /// `None` for the settings, which are never another object.
    uid: Option<Uid>,
    revision: Revision,
    /// If it is a storage version: the members whose entries it had.
    members: BTreeSet<MemberId>,
}

impl Known {
    /// Records an event that is delivered.
    pub(super) fn deliver(&mut self, event: &Event) {
        let key = ObjectAddress {
            kind: event.kind,
            resource: event.resource.clone(),
            namespace: event.namespace.clone(),
            name: event.name.clone(),
            lease: event.lease.clone(),
        };
        match (&event.object, event.change) {
            (Some(object), ChangeType::Added | ChangeType::Modified) => {
                let before = match event.change {
                    ChangeType::Modified => self.objects.remove(&key),
                    ChangeType::Added | ChangeType::Removed => None,
                };
                self.objects.insert(key, Version::of(object, before));
            }
            (_, ChangeType::Removed) | (None, _) => {
                self.objects.remove(&key);
            }
        }
    }

    /// The events that lead from what was delivered to this list: first removals, then additions, then modifications.
    pub(super) fn resync(&mut self, listed: Vec<Listed>) -> Vec<Event> {
        let present: BTreeMap<_, _> = listed
            .into_iter()
            .map(|listed| {
                let place = ObjectAddress {
                    kind: listed.object.kind(),
                    resource: listed.resource,
                    namespace: listed.namespace,
                    name: listed.name,
                    lease: listed.object.candidacy().cloned(),
                };
                (place, listed.object)
            })
            .collect();
        let gone = self.objects.iter().filter(|(key, version)| {
            present
                .get(key)
                .is_none_or(|object| Version::of(object, None).uid != version.uid)
        });
        let mut events: Vec<Event> = gone.map(|(place, _)| removed(place)).collect();
        for event in &events {
            self.deliver(event);
        }
        let (mut added, mut modified) = (Vec::new(), Vec::new());
        for (place, mut object) in present {
            let change = match self.objects.get(&place) {
                None => ChangeType::Added,
                Some(known) => {
                    if known.revision == Version::of(&object, None).revision {
                        continue;
                    }
                    note_removed_members(&mut object, known);
                    ChangeType::Modified
                }
            };
            let event = Event {
                change,
                kind: place.kind,
                resource: place.resource,
                namespace: place.namespace,
                name: place.name,
                lease: place.lease,
                object: Some(object),
            };
            self.deliver(&event);
            if change == ChangeType::Added {
                added.push(event);
            } else {
                modified.push(event);
            }
        }
        events.append(&mut added);
        events.append(&mut modified);
        events
    }
}

impl Version {
    /// The version of an object; for a storage version, with the members that it has after a change of `before`.
    fn of(object: &WatchedObject, before: Option<Self>) -> Self {
        let (uid, revision, members) = match object {
            WatchedObject::Member(member) => plain(&member.metadata),
            WatchedObject::Collection(collection) => plain(&collection.metadata),
            WatchedObject::Stored(object) => plain(&object.metadata),
            WatchedObject::ControllerRevision(snapshot) => plain(&snapshot.metadata),
            WatchedObject::Lease(lease) => plain(&lease.metadata),
            WatchedObject::LeaseCandidate(candidate) => plain(&candidate.metadata),
            WatchedObject::StorageVersion(change) => {
                let mut members = before.map(|before| before.members).unwrap_or_default();
                members.extend(
                    change
                        .changed_entries
                        .iter()
                        .map(|entry| entry.member.clone()),
                );
                for member in &change.removed_members {
                    members.remove(member);
                }
                let metadata = &change.metadata;
                (Some(metadata.uid), metadata.resource_version, members)
            }
            WatchedObject::StorageState(state) => plain(&state.metadata),
            WatchedObject::Migration(migration) => plain(&migration.metadata),
            WatchedObject::Roster(roster) => plain(&roster.metadata),
            WatchedObject::Settings(settings) => (None, settings.revision, BTreeSet::new()),
        };
        Self {
            uid,
            revision,
            members,
        }
    }
}

/// The version of an object that is delivered as a whole.
fn plain(metadata: &Metadata) -> (Option<Uid>, Revision, BTreeSet<MemberId>) {
    (
        Some(metadata.uid),
        metadata.resource_version,
        BTreeSet::new(),
    )
}

/// A listed storage version holds all of its entries; only the watch knows which of them were removed.
fn note_removed_members(object: &mut WatchedObject, known: &Version) {
    if let WatchedObject::StorageVersion(change) = object {
        let present: BTreeSet<&MemberId> = change
            .changed_entries
            .iter()
            .map(|entry| &entry.member)
            .collect();
        let gone = known
            .members
            .iter()
            .filter(|member| !present.contains(member));
        change.removed_members = gone.cloned().collect();
    }
}

fn removed(place: &ObjectAddress) -> Event {
    Event {
        change: ChangeType::Removed,
        kind: place.kind,
        resource: place.resource.clone(),
        namespace: place.namespace.clone(),
        name: place.name.clone(),
        lease: place.lease.clone(),
        object: None,
    }
}

#[cfg(test)]
mod tests;
