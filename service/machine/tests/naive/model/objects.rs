//! The naive model of objects: one map.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use synod_machine::{Answer, Holder, Written, WrittenHow};
use synod_model::{
    ApiVersion, Attributes, Compare, Content, CreateObject, Current, DeleteObject, ErrorKind,
    Fences, Finalizers, GroupResource, Labels, Metadata, MetadataPatch, MigrationReason, Object,
    ObjectKey, Operation, OwnerReference, OwnerReferences, Patch, PatchFormat, PatchObject,
    Preconditions, Refusal, StorageVersionHash, Switch, Transact, Ttl, TtlChange, Uid,
    UpdateObject, WallTime,
};

use super::deletion::Tasks;
use super::voting::join;
use super::{World, no};

pub(super) type Result<T> = std::result::Result<T, Refusal>;

impl World {
    pub(super) fn write(&mut self, operation: &Operation, wall: WallTime) -> Result<Answer> {
        let mut tasks = Tasks::new();
        let written = self.carry_out_one(operation, wall, &mut tasks)?;
        self.collect(tasks, wall);
        Ok(Answer::Wrote(self.settled(operation.key(), written)))
    }

    pub(super) fn transact(&mut self, transact: &Transact, wall: WallTime) -> Result<Answer> {
        let keys: BTreeSet<&ObjectKey> = transact.operations.iter().map(Operation::key).collect();
        if keys.len() < transact.operations.len() {
            return Err(no(ErrorKind::InvalidArgument));
        }
        self.check_fences(&transact.fences)?;
        if !transact.compares.iter().all(|compare| self.holds(compare)) {
            return Ok(Answer::Transacted {
                succeeded: false,
                written: Vec::new(),
            });
        }
        let mut tasks = Tasks::new();
        let mut written = Vec::new();
        // A refusal drops this whole world.
        for operation in &transact.operations {
            written.push(self.carry_out_one(operation, wall, &mut tasks)?);
        }
        self.collect(tasks, wall);
        let settled = transact.operations.iter().zip(written);
        let settled = settled.map(|(operation, written)| self.settled(operation.key(), written));
        Ok(Answer::Transacted {
            succeeded: true,
            written: settled.collect(),
        })
    }

    fn holds(&self, compare: &Compare) -> bool {
        match compare {
            Compare::Exists(key) => self.objects.contains_key(key),
            Compare::Absent(key) => !self.objects.contains_key(key),
            Compare::ResourceVersion(key, version) => {
                let object = self.objects.get(key);
                object.map(|object| object.metadata.resource_version) == Some(*version)
            }
            Compare::Selected(name, version) => {
                let kept = self.resource(name);
                kept.and_then(|kept| kept.status.selected.clone()) == *version
            }
        }
    }

    fn carry_out_one(
        &mut self,
        operation: &Operation,
        wall: WallTime,
        tasks: &mut Tasks,
    ) -> Result<Written> {
        match operation {
            Operation::Create(create) => self.create_object(create, wall),
            Operation::Update(update) => self.update_object(update, wall, tasks),
            Operation::Patch(patch) => self.patch_object(patch, tasks),
            Operation::Delete(delete) => self.delete_object(delete, wall, tasks),
        }
    }

    fn create_object(&mut self, create: &CreateObject, wall: WallTime) -> Result<Written> {
        self.check_fences(&create.fences)?;
        self.check_place(&create.key)?;
        if let Some(present) = self.objects.get(&create.key) {
            let current = Current::Object(Arc::new(present.clone()));
            return Err(no(ErrorKind::AlreadyExists).with_current(current));
        }
        let CreateObject {
            key,
            attributes,
            content,
            ttl,
            ..
        } = create;
        self.make(key, attributes, content, *ttl, wall)
    }

    fn make(
        &mut self,
        key: &ObjectKey,
        attributes: &Attributes,
        content: &Content,
        ttl: Option<Ttl>,
        wall: WallTime,
    ) -> Result<Written> {
        self.check_encoding(&key.resource, &content.encoding)?;
        self.check_owners(key, attributes, &Attributes::default())?;
        let object = Object {
            key: key.clone(),
            metadata: self.own_metadata(wall),
            attributes: attributes.clone(),
            deletion: None,
            content: content.clone(),
            content_revision: self.revision,
        };
        let created = written(WrittenHow::Created, &object.metadata);
        self.touched += 1;
        self.put(object);
        if let Some(ttl) = ttl {
            self.set_deadline(Holder::Object(key.clone()), ttl.duration());
        }
        Ok(created)
    }

    fn update_object(
        &mut self,
        update: &UpdateObject,
        wall: WallTime,
        tasks: &mut Tasks,
    ) -> Result<Written> {
        self.check_fences(&update.fences)?;
        self.check_place(&update.key)?;
        let rules = self.collections[&update.key.resource].rules;
        let asked = &update.preconditions;
        let Some(present) = self.objects.get(&update.key).cloned() else {
            if rules.create_on_update && *asked == Preconditions::default() {
                let UpdateObject {
                    key,
                    attributes,
                    content,
                    ttl,
                    ..
                } = update;
                let ttl = match ttl {
                    TtlChange::Set(ttl) => Some(*ttl),
                    TtlChange::Keep | TtlChange::Remove => None,
                };
                return self.make(key, attributes, content, ttl, wall);
            }
            return Err(no(ErrorKind::NotFound));
        };
        check_meant(asked, &present)?;
        if asked.resource_version.is_none() && !rules.unconditional_update {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let (attributes, content) = (&update.attributes, &update.content);
        let updated = self.replace(&present, attributes, content, update.ttl, tasks)?;
        // Patches of metadata do not come here: they encode nothing anew.
        let stored = self.objects.get_mut(&update.key);
        if let Some(stored) = stored.filter(|stored| stored.content != present.content) {
            stored.content_revision = self.revision;
        }
        Ok(updated)
    }

    fn patch_object(&mut self, request: &PatchObject, tasks: &mut Tasks) -> Result<Written> {
        self.check_fences(&request.fences)?;
        self.check_place(&request.key)?;
        let present = self.objects.get(&request.key).cloned();
        let present = present.ok_or_else(|| no(ErrorKind::NotFound))?;
        check_meant(&request.preconditions, &present)?;
        let shown = |kind| no(kind).with_current(Current::Object(Arc::new(present.clone())));
        let content = match &request.data {
            Some(patch) => with_patched_data(patch, &present).map_err(|kind| match kind {
                ErrorKind::Conflict => shown(kind),
                kind => no(kind),
            })?,
            None => present.content.clone(),
        };
        let attributes = match &request.metadata {
            Some(patch) => with_patched_metadata(patch, &present).map_err(|kind| match kind {
                ErrorKind::Conflict => shown(kind),
                kind => no(kind),
            })?,
            None => present.attributes.clone(),
        };
        self.replace(&present, &attributes, &content, request.ttl, tasks)
            .map_err(|refusal| match refusal.kind {
                ErrorKind::EncodingNotSelected => shown(refusal.kind),
                _ => refusal,
            })
    }

    fn replace(
        &mut self,
        present: &Object,
        attributes: &Attributes,
        content: &Content,
        ttl: TtlChange,
        tasks: &mut Tasks,
    ) -> Result<Written> {
        let key = &present.key;
        let rewritten = *content != present.content;
        if rewritten {
            self.check_encoding(&key.resource, &content.encoding)?;
        }
        self.check_owners(key, attributes, &present.attributes)?;
        let finalizers = &attributes.finalizers;
        let kept = &present.attributes.finalizers;
        let grows = finalizers.iter().any(|one| !kept.contains(one.as_str()));
        if present.deletion.is_some() && grows {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let mut object = present.clone();
        object.attributes = attributes.clone();
        object.content = content.clone();
        if object == *present {
            self.change_ttl(present, ttl);
            return Ok(written(WrittenHow::Unchanged, &present.metadata));
        }
        if present.deletion.is_some() && finalizers.is_empty() {
            let mut gone = written(WrittenHow::Deleted, &present.metadata);
            gone.resource_version = self.revision;
            self.remove(key, tasks);
            return Ok(gone);
        }
        object.metadata.resource_version = self.revision;
        let observes = self.collections[&key.resource].rules.status_subresource;
        if rewritten && !(observes && has_new_status_alone(&present.content, content)) {
            object.metadata.generation += 1;
        }
        let updated = written(WrittenHow::Updated, &object.metadata);
        self.exchange(object, tasks);
        self.change_ttl(present, ttl);
        Ok(updated)
    }

    fn change_ttl(&mut self, present: &Object, ttl: TtlChange) {
        let holder = Holder::Object(present.key.clone());
        if present.deletion.is_some() {
            return;
        }
        match ttl {
            TtlChange::Set(ttl) => self.set_deadline(holder, ttl.duration()),
            TtlChange::Remove => self.clear_deadline(&holder),
            TtlChange::Keep => {}
        }
    }

    fn delete_object(
        &mut self,
        delete: &DeleteObject,
        wall: WallTime,
        tasks: &mut Tasks,
    ) -> Result<Written> {
        self.check_fences(&delete.fences)?;
        self.check_place(&delete.key)?;
        let present = self.objects.get(&delete.key).cloned();
        let present = present.ok_or_else(|| no(ErrorKind::NotFound))?;
        check_meant(&delete.preconditions, &present)?;
        let how = self.let_go(&delete.key, delete.propagation, wall, tasks);
        let mut done = written(how, &present.metadata);
        if how != WrittenHow::Unchanged {
            done.resource_version = self.revision;
        }
        Ok(done)
    }

    /// Inserts or replaces an object, and adds its encoding to `persisted`.
    pub(super) fn put(&mut self, object: Object) {
        let name = object.key.resource.clone();
        let named = object.content.encoding.clone();
        let hash = StorageVersionHash::of_version(&named, &self.collections[&name].kind);
        let persisted = &mut self.resource_mut(&name).status.persisted;
        if !persisted.iter().any(|kept| kept.version() == Some(&named)) {
            join(persisted, hash, Some(&named));
            // At once, and not at the end of the command: what is created later gets a later uid.
            let is_on = self.settings.migrations == Switch::On;
            if is_on && self.is_to_be_migrated(&name) {
                self.create(&name, MigrationReason::Agreement);
                self.made += 1;
            }
        }
        self.objects.insert(object.key.clone(), object);
    }

    fn check_owners(&self, key: &ObjectKey, new: &Attributes, known: &Attributes) -> Result<()> {
        for reference in new.owners.iter() {
            if known
                .owners
                .iter()
                .any(|kept| named(kept) == named(reference))
            {
                continue;
            }
            let owner = self.owner(key, reference);
            let going = owner.is_some_and(|owner| {
                let finalizers = &owner.attributes.finalizers;
                owner.deletion.is_some()
                    && (finalizers.contains("orphan") || finalizers.contains("foregroundDeletion"))
            });
            if owner.is_none() || going {
                return Err(no(ErrorKind::InvalidArgument));
            }
        }
        Ok(())
    }

    fn check_place(&self, key: &ObjectKey) -> Result<()> {
        let collection = self.collections.get(&key.resource);
        let collection = collection.ok_or_else(|| no(ErrorKind::NotFound))?;
        match collection.namespaced == key.name.namespace().is_some() {
            true => Ok(()),
            false => Err(no(ErrorKind::InvalidArgument)),
        }
    }

    fn check_fences(&self, fences: &Fences) -> Result<()> {
        match &fences.if_member {
            Some((member, epoch)) => self.fenced(member, *epoch).map(drop),
            None => Ok(()),
        }
    }

    fn check_encoding(&self, name: &GroupResource, encoding: &ApiVersion) -> Result<()> {
        let status = self.resource(name).map(|kept| &kept.status);
        if self.collections[name].rules.strict_storage_version {
            match status.and_then(|status| status.selected.as_ref()) {
                None => return Err(no(ErrorKind::NoAgreement)),
                Some(selected) if selected != encoding => {
                    return Err(no(ErrorKind::EncodingNotSelected));
                }
                Some(_) => {}
            }
        }
        let mut entries = self.entries.iter();
        if entries.any(|entry| entry.resource == *name && !entry.decodes(encoding)) {
            return Err(no(ErrorKind::NotDecodable)
                .with("resource", name.storage_version_name())
                .with("version", encoding));
        }
        Ok(())
    }

    pub(super) fn own_metadata(&mut self, wall: WallTime) -> Metadata {
        let cluster = self.cluster.expect("nothing is made before the cluster");
        let uid = Uid::derive(&cluster, self.revision, self.made);
        self.made += 1;
        Metadata {
            uid,
            ..self.new_metadata(wall)
        }
    }
}

fn named(owner: &OwnerReference) -> (&str, &str, &str, Uid) {
    let group = owner.api_version.group();
    (group, owner.kind.as_str(), owner.name.as_str(), owner.uid)
}

fn with_patched_data(patch: &Patch, present: &Object) -> std::result::Result<Content, ErrorKind> {
    let mut content = present.content.clone();
    if content.encoding != patch.encoding {
        return Err(ErrorKind::Conflict);
    }
    let before = members(&content.data);
    let mut after = before.clone();
    let document: Value = serde_json::from_slice(&patch.document).expect("the script writes JSON");
    match patch.format {
        PatchFormat::Merge => {
            for (key, value) in document.as_object().expect("a merge is an object") {
                match value {
                    Value::Null => after.remove(key),
                    value => after.insert(key.clone(), value.clone()),
                };
            }
        }
        // The script tests `a`, and then adds `status`.
        PatchFormat::Json => {
            let operations = document.as_array().expect("it is a list");
            match before.get("a") {
                None => return Err(ErrorKind::InvalidArgument),
                Some(value) if *value != operations[0]["value"] => {
                    return Err(ErrorKind::Conflict);
                }
                Some(_) => after.insert("status".to_owned(), operations[1]["value"].clone()),
            };
        }
    }
    if after != before {
        let text = serde_json::to_vec(&after).expect("it is JSON");
        content.data = text.into();
    }
    Ok(content)
}

/// Whether nothing but the member `status` differs.
fn has_new_status_alone(before: &Content, after: &Content) -> bool {
    let rest = |content: &Content| {
        let mut members = members(&content.data);
        members.remove("status");
        members
    };
    before.encoding == after.encoding && rest(before) == rest(after)
}

/// The script merges labels, finalizers, owners, and what may not be changed; or tests a label and takes it away.
fn with_patched_metadata(
    patch: &MetadataPatch,
    present: &Object,
) -> std::result::Result<Attributes, ErrorKind> {
    let mut attributes = present.attributes.clone();
    let labels = attributes.labels.iter();
    let mut labels: BTreeMap<String, String> = labels
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let document: Value = serde_json::from_slice(&patch.document).expect("the script writes JSON");
    if let Value::Array(operations) = &document {
        match labels.get("b") {
            None => return Err(ErrorKind::InvalidArgument),
            Some(value) if *value != operations[0]["value"] => return Err(ErrorKind::Conflict),
            Some(_) => labels.remove("b"),
        };
    }
    let merged = document.as_object().into_iter().flatten();
    for (member, value) in merged {
        match (member.as_str(), value) {
            ("labels", Value::Null) => labels.clear(),
            ("labels", changes) => {
                for (key, value) in changes.as_object().expect("labels are an object") {
                    match value.as_str() {
                        Some(value) => labels.insert(key.clone(), value.to_owned()),
                        None => labels.remove(key),
                    };
                }
            }
            ("finalizers", names) => {
                let names = names.as_array().expect("finalizers are a list").iter();
                let names = names.filter_map(Value::as_str);
                attributes.finalizers = Finalizers::parse(names).expect("they are legal");
            }
            ("ownerReferences", Value::Null) => attributes.owners = OwnerReferences::default(),
            ("name", name) if name == present.key.name.name() => {}
            ("resourceVersion", version)
                if *version == present.metadata.resource_version.to_string().as_str() => {}
            ("resourceVersion", _) => return Err(ErrorKind::Conflict),
            _ => return Err(ErrorKind::InvalidArgument),
        }
    }
    attributes.labels = Labels::parse(labels).expect("they are legal");
    Ok(attributes)
}

fn members(data: &[u8]) -> BTreeMap<String, Value> {
    serde_json::from_slice(data).expect("the script stores objects")
}

pub(super) fn is_meant(asked: &Preconditions, metadata: &Metadata) -> bool {
    let right_uid = asked.uid.is_none_or(|uid| uid == metadata.uid);
    let version = asked.resource_version;
    right_uid && version.is_none_or(|version| version == metadata.resource_version)
}

fn check_meant(asked: &Preconditions, object: &Object) -> Result<()> {
    if is_meant(asked, &object.metadata) {
        return Ok(());
    }
    let current = Current::Object(Arc::new(object.clone()));
    Err(no(ErrorKind::Conflict).with_current(current))
}

pub(super) fn written(how: WrittenHow, metadata: &Metadata) -> Written {
    Written {
        how,
        uid: metadata.uid,
        resource_version: metadata.resource_version,
    }
}
