//! The naive model of collections: one map.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_machine::{Answer, StateStatus, WrittenHow};
use synod_model::{
    Absent, Collection, CreateCollection, Current, DeleteCollection, ErrorKind, GroupResource,
    Preconditions, Revision, UpdateCollection, WallTime,
};

use super::objects::{Result, is_meant, written};
use super::{Resource, World, no};

impl World {
    pub(super) fn create_collection(
        &mut self,
        create: &CreateCollection,
        wall: WallTime,
    ) -> Result<Answer> {
        let CreateCollection {
            resource,
            kind,
            namespaced,
            rules,
        } = create.clone();
        if self.is_no_encoding(&resource) {
            return Err(no(ErrorKind::InvalidArgument));
        }
        if let Some(present) = self.collections.get(&resource) {
            let current = Current::Collection(Arc::new(present.clone()));
            return Err(no(ErrorKind::AlreadyExists).with_current(current));
        }
        if self.first(&resource) != resource {
            return Err(no(ErrorKind::Conflict));
        }
        if rules.strict_storage_version && self.has_fixed_entry(&resource) {
            return Err(no(ErrorKind::NoAgreement));
        }
        let metadata = self.own_metadata(wall);
        let collection = Collection {
            resource: resource.clone(),
            metadata,
            kind,
            namespaced,
            rules,
        };
        let written = written(WrittenHow::Created, &collection.metadata);
        self.collections.insert(resource.clone(), collection);
        if self.resource(&resource).is_none() {
            let absent = self.absent(&resource);
            let on_trust = self.trusts_anew(&resource).then_some(self.revision);
            self.resources.push(Resource {
                name: resource,
                metadata: self.new_metadata(wall),
                status: nothing_stored(absent, on_trust),
                agreements: Vec::new(),
            });
            self.resources.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(Answer::Wrote(written))
    }

    pub(super) fn update_collection(&mut self, update: &UpdateCollection) -> Result<Answer> {
        let mut collection = self.found(&update.resource, &update.preconditions)?;
        let was_strict = collection.rules.strict_storage_version;
        let mut rules = collection.rules;
        if let Some(strict) = update.strict_storage_version {
            rules.strict_storage_version = strict;
        }
        if let Some(creates) = update.create_on_update {
            rules.create_on_update = creates;
        }
        if let Some(unconditional) = update.unconditional_update {
            rules.unconditional_update = unconditional;
        }
        if let Some(status) = update.status_subresource {
            rules.status_subresource = status;
        }
        let corrected = update.kind.clone().filter(|kind| *kind != collection.kind);
        if rules == collection.rules && corrected.is_none() {
            let same = written(WrittenHow::Unchanged, &collection.metadata);
            return Ok(Answer::Wrote(same));
        }
        if let Some(kind) = corrected {
            if self
                .objects
                .keys()
                .any(|key| key.resource == update.resource)
            {
                return Err(no(ErrorKind::Conflict));
            }
            let mut others = self.collections.values();
            let group = update.resource.group();
            if others.any(|other| other.resource.group() == group && other.kind == kind) {
                return Err(no(ErrorKind::AlreadyExists));
            }
            collection.kind = kind;
        }
        if rules.strict_storage_version && !was_strict && self.has_fixed_entry(&update.resource) {
            return Err(no(ErrorKind::NoAgreement));
        }
        collection.rules = rules;
        collection.metadata.generation += 1;
        collection.metadata.resource_version = self.revision;
        let updated = written(WrittenHow::Updated, &collection.metadata);
        self.collections.insert(update.resource.clone(), collection);
        Ok(Answer::Wrote(updated))
    }

    pub(super) fn delete_collection(&mut self, delete: &DeleteCollection) -> Result<Answer> {
        let mut collection = self.found(&delete.resource, &delete.preconditions)?;
        if self
            .objects
            .keys()
            .any(|key| key.resource == delete.resource)
        {
            return Err(no(ErrorKind::Conflict));
        }
        self.collections.remove(&delete.resource);
        collection.metadata.resource_version = self.revision;
        let gone = written(WrittenHow::Deleted, &collection.metadata);
        Ok(Answer::Wrote(gone))
    }

    fn found(&self, name: &GroupResource, asked: &Preconditions) -> Result<Collection> {
        let collection = self.collections.get(name);
        let collection = collection.ok_or_else(|| no(ErrorKind::NotFound))?.clone();
        if is_meant(asked, &collection.metadata) {
            return Ok(collection);
        }
        let current = Current::Collection(Arc::new(collection));
        Err(no(ErrorKind::Conflict).with_current(current))
    }

    pub(super) fn has_fixed_entry(&self, name: &GroupResource) -> bool {
        let entries = self.entries_of(name);
        entries.iter().any(|entry| !entry.row.is_voting())
    }
}

fn nothing_stored(absent: Absent, on_trust: Option<Revision>) -> StateStatus {
    StateStatus {
        on_trust,
        persisted: BTreeSet::new(),
        absent,
        ..super::nothing_known()
    }
}
