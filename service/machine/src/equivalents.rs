//! Equivalent resources: one store under several names.
//!
//! What is kept of a store is kept once, in the storage state of its first name. Entries stay under the name that their members
//! report. The first name is that of the collection, if one of the names has one, and else the first in order.

mod join;
mod separate;

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use synod_model::{GroupResource, MemberId, MigrationId, Topic, TopicKind};

use crate::state::{StorageState, StorageVersion};
use crate::{Command, EntryRow, State, StateStatus};

/// The names of a store. Nearly every store has one.
pub(crate) type StoreNames = SmallVec<[GroupResource; 1]>;

impl State {
    /// The first name of a resource's store: its own, unless it is equivalent to others.
    pub(crate) fn first_name<'a>(&'a self, resource: &'a GroupResource) -> Cow<'a, GroupResource> {
        if self.first_names.is_empty() {
            return Cow::Borrowed(resource);
        }
        match base_of_key(resource) {
            None => Cow::Borrowed(self.first_names.get(resource).unwrap_or(resource)),
            Some(base) => match self.first_names.get(&base) {
                None => Cow::Borrowed(resource),
                Some(first) => key_of(first).map_or(Cow::Borrowed(resource), Cow::Owned),
            },
        }
    }

    /// All names of a resource's store, the first one first.
    pub(crate) fn names(&self, resource: &GroupResource) -> StoreNames {
        let first = self.first_name(resource).into_owned();
        if self.first_names.is_empty() {
            return smallvec![first];
        }
        let base = base_of_key(&first);
        let kept = self.storage_states.get(base.as_ref().unwrap_or(&first));
        let others = kept.map(|kept| &kept.row.status.equivalents).into_iter();
        let others: Vec<_> = others
            .flatten()
            .filter_map(|name| match &base {
                None => Some(name.clone()),
                Some(_) => key_of(name),
            })
            .collect();
        [first].into_iter().chain(others).collect()
    }

    /// Whether a key is known whose names follow from those of the resource's store.
    pub(crate) fn has_keys_of_several_names(&self, resource: &GroupResource) -> bool {
        let names = self.names(resource);
        let key = names.first().and_then(key_of);
        names.len() > 1 && key.is_some_and(|key| self.state_of(&key).is_some())
    }

    /// The storage state of a resource's store.
    pub(crate) fn state_of(&self, resource: &GroupResource) -> Option<&StorageState> {
        self.storage_states.get(&*self.first_name(resource))
    }

    /// The status of the store of a resource that is known.
    pub(crate) fn status(&self, resource: &GroupResource) -> &StateStatus {
        let kept = self.state_of(resource);
        &kept
            .expect("a known resource has a storage state")
            .row
            .status
    }

    /// The reports on a resource's store, by its names.
    pub(crate) fn versions_of(
        &self,
        resource: &GroupResource,
    ) -> impl Iterator<Item = (GroupResource, &StorageVersion)> {
        let names = self.names(resource).into_iter();
        names.filter_map(|name| {
            let version = self.storage_versions.get(&name)?;
            Some((name, version))
        })
    }

    /// Whether a member reports a resource, under any name of its store.
    pub(crate) fn is_reported(&self, resource: &GroupResource) -> bool {
        self.versions_of(resource).next().is_some()
    }

    /// The entries of a resource's store, under all of its names.
    pub(crate) fn entries_of(
        &self,
        resource: &GroupResource,
    ) -> impl Iterator<Item = (&MemberId, &Arc<EntryRow>)> {
        let versions = self.versions_of(resource);
        versions.flat_map(|(_, version)| &version.entries)
    }

    /// The entry of the first member, by id, that reports a resource.
    pub(crate) fn first_entry(
        &self,
        resource: &GroupResource,
    ) -> Option<(&MemberId, &Arc<EntryRow>)> {
        let versions = self.versions_of(resource);
        let firsts = versions.filter_map(|(_, version)| version.entries.get_min());
        let firsts = firsts.map(|(member, entry)| (member, entry));
        firsts.min_by_key(|(member, _)| *member)
    }

    /// Follows in the index which names lead to a first name.
    pub(crate) fn index_names(
        &mut self,
        first: &GroupResource,
        before: Option<&StateStatus>,
        after: Option<&StateStatus>,
    ) {
        for name in before.into_iter().flat_map(|status| &status.equivalents) {
            self.first_names.remove(name);
        }
        for name in after.into_iter().flat_map(|status| &status.equivalents) {
            self.first_names.insert(name.clone(), first.clone());
        }
    }
}

impl State {
    /// The command with the first name of a store in place of another one.
    pub(crate) fn under_first_names<'a>(&self, command: &'a Command) -> Cow<'a, Command> {
        if self.first_names.is_empty() {
            return Cow::Borrowed(command);
        }
        let mut command = command.clone();
        if let Command::StartMigration(start) = &mut command {
            self.lead_to_first(&mut start.resource);
        } else if let Command::ForgetResource(forget) = &mut command {
            self.lead_to_first(&mut forget.resource);
        } else if let Command::DismissLooks(dismiss) = &mut command {
            self.lead_to_first(&mut dismiss.resource);
        } else if let Command::ResetStorageStates(reset) = &mut command
            && let Some(resource) = &mut reset.resource
        {
            self.lead_to_first(resource);
        } else if let Some(id) = migration_named_in(&mut command) {
            let mut resource = id.resource().clone();
            self.lead_to_first(&mut resource);
            *id = MigrationId::new(resource, id.number());
        }
        Cow::Owned(command)
    }

    fn lead_to_first(&self, resource: &mut GroupResource) {
        *resource = self.first_name(resource).into_owned();
    }
}

fn migration_named_in(command: &mut Command) -> Option<&mut MigrationId> {
    Some(if let Command::ClaimMigration(it) = command {
        &mut it.id
    } else if let Command::ReportMigrationProgress(it) = command {
        &mut it.id
    } else if let Command::CompleteMigration(it) = command {
        &mut it.id
    } else if let Command::FailMigration(it) = command {
        &mut it.id
    } else if let Command::ReleaseMigration(it) = command {
        &mut it.id
    } else if let Command::AbortMigration(it) = command {
        &mut it.id
    } else if let Command::DeleteMigration(it) = command {
        &mut it.id
    } else if let Command::RetryMigration(it) = command {
        &mut it.id
    } else {
        return None;
    })
}

/// The resource whose objects a key encrypts; `None` for what is no key.
pub(crate) fn base_of_key(resource: &GroupResource) -> Option<GroupResource> {
    if TopicKind::of(resource) != TopicKind::Key {
        return None;
    }
    GroupResource::parse_qualified(Topic::of(resource).name()).ok()
}

/// The topic of the key that encrypts the objects of a resource; `None` if its name is too long for one.
pub(crate) fn key_of(resource: &GroupResource) -> Option<GroupResource> {
    let topic = Topic::new(TopicKind::Key, resource.qualified()).ok()?;
    Some(topic.resource().clone())
}
