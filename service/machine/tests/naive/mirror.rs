//! The copy of the state that a watcher holds by following the events from the first revision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_machine::{
    Change, ChangeOf, EntryChange, ObjectRef, RevisionEvents, StorageStateRow, StorageVersionRow,
    Watched,
};
use synod_model::{
    AgreementChange, Collection, GroupResource, Member, MemberId, Migration, MigrationId,
    ObjectKey, ObjectKind, PackedObject, ResourceScope, Revision, Roster, Settings,
};

use crate::picture::Visible;

/// A watcher's copy.
#[derive(Default)]
pub(crate) struct Mirror {
    pub(crate) visible: Visible,
}

/// An object that can change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Member(MemberId),
    Version(GroupResource),
    Entry(GroupResource, MemberId),
    State(GroupResource),
    Migration(MigrationId),
    Settings,
    Collection(GroupResource),
    Stored(ObjectKey),
    Roster(ResourceScope),
}

/// The histories of controllers change nothing else, and have a test and a model of their own.
const ELSEWHERE: &str = "no history is begun here";

impl Mirror {
    /// Applies the events of the next revision. The state before in each event must equal the copy.
    pub(crate) fn follow(&mut self, events: &RevisionEvents) {
        for change in &events.changes {
            let object = &change.object;
            assert_ne!(object.kind(), ObjectKind::ControllerRevision, "{ELSEWHERE}");
            if let Some((id, before, after)) = parts(change) {
                self.follow_member(id, before, after);
            }
            if let Some((resource, before, after)) = parts(change) {
                self.follow_version(resource, before, after);
                self.follow_entries(resource, &change.entries);
            }
            if let Some((resource, before, after)) = parts(change) {
                check_line(events.revision, before, after, change.agreement.as_deref());
                self.follow_state(resource, before, after);
            }
            if let Some((id, before, after)) = parts(change) {
                self.follow_migration(id, before, after);
            }
            if let Some(((), before, after)) = parts(change) {
                self.follow_settings(before, after.expect("there are always settings"));
            }
            if let Some((resource, before, after)) = parts(change) {
                self.follow_collection(resource, before, after);
            }
            if let Some(ChangeOf { key, before, after }) = change.of::<synod_model::Object>() {
                let unpacked = |row: Option<&PackedObject>| row.map(PackedObject::unpack);
                self.follow_object(key, unpacked(before).as_ref(), unpacked(after).as_ref());
            }
            if let Some((scope, before, after)) = parts(change) {
                self.follow_roster(scope, before, after);
            }
        }
    }

    /// Compares the member before with the copy, and keeps the one after.
    fn follow_member(&mut self, id: &MemberId, old: Option<&Member>, new: Option<&Member>) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        put_member(&mut before, old);
        put_member(&mut after, new);
        assert_eq!(self.visible.members.remove(id), before.members.remove(id));
        self.visible.members.extend(after.members);
    }

    /// Compares the storage version before with the copy, and keeps the one after; entries are separate.
    fn follow_version(
        &mut self,
        resource: &GroupResource,
        old: Option<&StorageVersionRow>,
        new: Option<&StorageVersionRow>,
    ) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        if let Some(row) = old {
            before.put_version(resource, row);
        }
        if let Some(row) = new {
            after.put_version(resource, row);
        }
        let held = self.visible.versions.remove(resource);
        assert_eq!(held, before.versions.remove(resource));
        self.visible.versions.extend(after.versions);
    }

    /// Compares the storage state before with the copy, and keeps the one after.
    fn follow_state(
        &mut self,
        resource: &GroupResource,
        old: Option<&StorageStateRow>,
        new: Option<&StorageStateRow>,
    ) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        if let Some(row) = old {
            before.put_state(resource, row);
        }
        if let Some(row) = new {
            after.put_state(resource, row);
        }
        let held = self.visible.states.remove(resource);
        assert_eq!(held, before.states.remove(resource));
        self.visible.states.extend(after.states);
    }

    fn follow_migration(
        &mut self,
        id: &MigrationId,
        old: Option<&Migration>,
        new: Option<&Migration>,
    ) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        old.into_iter().for_each(|row| before.put_migration(row));
        new.into_iter().for_each(|row| after.put_migration(row));
        let held = self.visible.migrations.remove(id);
        assert_eq!(held, before.migrations.remove(id));
        self.visible.migrations.extend(after.migrations);
    }

    fn follow_settings(&mut self, old: Option<&Settings>, new: &Settings) {
        let held = &self.visible.settings;
        // The first settings come with the cluster.
        let held = (held.revision > Revision::ZERO).then_some(held);
        assert_eq!(held, old);
        self.visible.settings = new.clone();
    }

    fn follow_collection(
        &mut self,
        resource: &GroupResource,
        old: Option<&Collection>,
        new: Option<&Collection>,
    ) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        old.into_iter().for_each(|row| before.put_collection(row));
        new.into_iter().for_each(|row| after.put_collection(row));
        let held = self.visible.collections.remove(resource);
        assert_eq!(held, before.collections.remove(resource));
        self.visible.collections.extend(after.collections);
    }

    fn follow_object(
        &mut self,
        key: &ObjectKey,
        old: Option<&synod_model::Object>,
        new: Option<&synod_model::Object>,
    ) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        old.into_iter().for_each(|object| before.put_object(object));
        new.into_iter().for_each(|object| after.put_object(object));
        let held = self.visible.objects.remove(key);
        assert_eq!(held, before.objects.remove(key));
        self.visible.objects.extend(after.objects);
    }

    fn follow_roster(&mut self, scope: &ResourceScope, old: Option<&Roster>, new: Option<&Roster>) {
        let (mut before, mut after) = (Visible::default(), Visible::default());
        old.into_iter().for_each(|row| before.put_roster(row));
        new.into_iter().for_each(|row| after.put_roster(row));
        let held = self.visible.rosters.remove(scope);
        assert_eq!(held, before.rosters.remove(scope));
        self.visible.rosters.extend(after.rosters);
    }

    fn follow_entries(&mut self, resource: &GroupResource, entries: &[EntryChange]) {
        for entry in entries {
            let key = (resource.clone(), entry.member.clone());
            let held = self.visible.entries.remove(&key);
            assert_eq!(held.as_ref(), entry.before.as_deref());
            if let Some(row) = &entry.after {
                self.visible.entries.insert(key, (**row).clone());
            }
        }
    }

    /// Checks that the events name every changed object, once, and no other.
    pub(crate) fn check_changes(&self, events: &RevisionEvents, before: &Visible, after: &Visible) {
        let named: Vec<Object> = events.changes.iter().flat_map(objects).collect();
        let unique: BTreeSet<Object> = named.iter().cloned().collect();
        assert_eq!(
            named.len(),
            unique.len(),
            "one change for an object: {named:?}"
        );
        let mut expected = BTreeSet::new();
        for id in different(&before.members, &after.members) {
            expected.insert(Object::Member(id));
        }
        for resource in different(&before.versions, &after.versions) {
            expected.insert(Object::Version(resource));
        }
        for (resource, member) in different(&before.entries, &after.entries) {
            expected.insert(Object::Entry(resource, member));
        }
        for resource in different(&before.states, &after.states) {
            expected.insert(Object::State(resource));
        }
        for resource in different(&before.collections, &after.collections) {
            expected.insert(Object::Collection(resource));
        }
        for key in different(&before.objects, &after.objects) {
            expected.insert(Object::Stored(key));
        }
        for id in different(&before.migrations, &after.migrations) {
            expected.insert(Object::Migration(id));
        }
        for scope in different(&before.rosters, &after.rosters) {
            expected.insert(Object::Roster(scope));
        }
        if before.settings != after.settings {
            expected.insert(Object::Settings);
        }
        assert_eq!(unique, expected, "the objects that changed");
        let sorted = |entries: &[EntryChange]| entries.is_sorted_by_key(|entry| &entry.member);
        for change in &events.changes {
            assert!(sorted(&change.entries), "entries come by member");
        }
    }
}

fn put_member(visible: &mut Visible, member: Option<&Member>) {
    if let Some(member) = member {
        visible.put_member(member);
    }
}

/// Checks that the history of agreements has a line exactly when the agreement changed.
fn check_line(
    revision: Revision,
    old: Option<&StorageStateRow>,
    new: Option<&StorageStateRow>,
    line: Option<&AgreementChange>,
) {
    let from = old.and_then(|row| row.status.agreed.as_ref());
    let to = new.and_then(|row| row.status.agreed.as_ref());
    // The history of a name goes with what is known of it.
    if new.is_none() {
        assert!(line.is_none());
        return;
    }
    assert_eq!(line.is_some(), from != to);
    if let Some(line) = line {
        assert_eq!((line.from.as_ref(), line.to.as_ref()), (from, to));
        assert_eq!(line.revision, revision);
    }
}

/// The change as one of the kind's rows.
fn parts<R: Watched<Kept = Arc<R>>>(change: &Change) -> Option<(&R::Key, Option<&R>, Option<&R>)> {
    let change = change.of::<R>()?;
    Some((
        change.key,
        change.before.map(|row| &**row),
        change.after.map(|row| &**row),
    ))
}

/// The objects that changed. Leases have a naive model of their own.
fn objects(change: &Change) -> Vec<Object> {
    match &change.object {
        ObjectRef::Member(id) => vec![Object::Member(id.clone())],
        ObjectRef::StorageVersion(resource) => {
            let entries = change.entries.iter();
            let entries =
                entries.map(|entry| Object::Entry(resource.clone(), entry.member.clone()));
            entries.chain([Object::Version(resource.clone())]).collect()
        }
        ObjectRef::StorageState(resource) => vec![Object::State(resource.clone())],
        ObjectRef::ControllerRevision(_) => panic!("{ELSEWHERE}"),
        ObjectRef::Migration(id) => vec![Object::Migration(id.clone())],
        ObjectRef::Settings(()) => vec![Object::Settings],
        ObjectRef::Lease(_) | ObjectRef::LeaseCandidate(_) => Vec::new(),
        ObjectRef::Collection(resource) => vec![Object::Collection(resource.clone())],
        ObjectRef::Object(key) => vec![Object::Stored(key.clone())],
        ObjectRef::Roster(scope) => vec![Object::Roster(scope.clone())],
    }
}

/// The keys whose values differ between the two maps.
fn different<K: Ord + Clone, V: PartialEq>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
) -> BTreeSet<K> {
    let keys: BTreeSet<&K> = before.keys().chain(after.keys()).collect();
    let keys = keys.into_iter();
    keys.filter(|key| before.get(key) != after.get(key))
        .cloned()
        .collect()
}
