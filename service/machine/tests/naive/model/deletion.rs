//! The naive model of deletions and of what they do to owners and dependents: each step searches all objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_machine::{Fate, Holder, Written, WrittenHow};
use synod_model::{
    Deletion, Finalizers, Object, ObjectKey, OwnerReference, Propagation, Uid, WallTime,
};

use super::World;

/// Work that is left for the dependents of an owner.
pub(super) struct Task {
    owner: ObjectKey,
    fate: Fate,
    /// Whether every dependent was processed, and only the owner itself is left to check.
    looked: bool,
}

/// By the uid of the owner, which is the order of processing.
pub(super) type Tasks = BTreeMap<Uid, Task>;

impl World {
    pub(super) fn expire_objects(&mut self, named: &BTreeSet<ObjectKey>, wall: WallTime) -> u32 {
        let mut tasks = Tasks::new();
        let mut gone = 0;
        for key in named {
            if self.has_ended(&Holder::Object(key.clone())) && self.objects.contains_key(key) {
                self.let_go(key, None, wall, &mut tasks);
                gone += 1;
            }
        }
        self.collect(tasks, wall);
        gone
    }

    pub(super) fn let_go(
        &mut self,
        key: &ObjectKey,
        propagation: Option<Propagation>,
        wall: WallTime,
        tasks: &mut Tasks,
    ) -> WrittenHow {
        let mut object = self.objects[key].clone();
        let begun = object.deletion.clone();
        if begun.is_some() && propagation.is_none() {
            return WrittenHow::Unchanged;
        }
        let uid = object.metadata.uid;
        let finalizers = &object.attributes.finalizers;
        let asked = asked(propagation, finalizers);
        let mut names: Vec<String> = finalizers.iter().map(ToString::to_string).collect();
        names.retain(|name| name != "orphan" && name != "foregroundDeletion");
        let waiting = waiting(asked).filter(|_| !self.dependents_of(&uid).is_empty());
        names.extend(waiting.map(|(_, finalizer)| finalizer.to_owned()));
        let fate = waiting.map(|(fate, _)| fate);
        if begun.is_some() {
            let of_deletions = |name: &&str| ["orphan", "foregroundDeletion"].contains(name);
            let now = finalizers.iter().map(|name| name.as_str());
            let now: BTreeSet<&str> = now.filter(of_deletions).collect();
            let then = names.iter().map(String::as_str).filter(of_deletions);
            if now == then.collect() {
                return WrittenHow::Unchanged;
            }
            // Whatever was left for its dependents is replaced by the new policy, or dropped.
            tasks.remove(&uid);
        }
        if names.is_empty() {
            self.remove(key, tasks);
            return WrittenHow::Deleted;
        }
        object.attributes.finalizers = Finalizers::parse(names).expect("they were legal");
        if begun.is_none() || fate == Some(Fate::Foreground) {
            object.deletion = Some(Arc::new(Deletion {
                at: begun.as_ref().map_or(wall, |begun| begun.at),
                revision: self.revision,
                position: self.marked,
            }));
            self.marked += 1;
        }
        if begun.is_none() {
            object.metadata.generation += 1;
        }
        object.metadata.resource_version = self.revision;
        self.clear_deadline(&Holder::Object(key.clone()));
        self.exchange(object, tasks);
        if let Some(fate) = fate {
            tasks.insert(
                uid,
                Task {
                    owner: key.clone(),
                    fate,
                    looked: false,
                },
            );
        }
        WrittenHow::Deleting
    }

    pub(super) fn remove(&mut self, key: &ObjectKey, tasks: &mut Tasks) {
        let object = self.objects.remove(key).expect("it is there");
        self.clear_deadline(&Holder::Object(key.clone()));
        let uid = object.metadata.uid;
        if !self.dependents_of(&uid).is_empty() {
            tasks.entry(uid).or_insert(Task {
                owner: key.clone(),
                fate: Fate::Background,
                looked: false,
            });
        }
        self.look_at_owners(&object, &[], tasks);
    }

    pub(super) fn exchange(&mut self, object: Object, tasks: &mut Tasks) {
        let before = self.objects[&object.key].clone();
        let owners: Vec<OwnerReference> = object.attributes.owners.iter().cloned().collect();
        self.put(object);
        self.look_at_owners(&before, &owners, tasks);
    }

    /// Owners that wait for their dependents may go now, if no object names them or this one no longer blocks them.
    fn look_at_owners(&self, before: &Object, now: &[OwnerReference], tasks: &mut Tasks) {
        for reference in before.attributes.owners.iter() {
            let still = now.iter().find(|kept| kept.uid == reference.uid);
            let as_before = still
                .is_some_and(|kept| kept.block_owner_deletion || !reference.block_owner_deletion);
            let Some(owner) = self.owner(&before.key, reference).filter(|_| !as_before) else {
                continue;
            };
            if waits(owner) {
                tasks.entry(reference.uid).or_insert(Task {
                    owner: owner.key.clone(),
                    fate: Fate::Foreground,
                    looked: true,
                });
            }
        }
    }

    pub(super) fn collect(&mut self, mut tasks: Tasks, wall: WallTime) {
        while let Some((uid, task)) = tasks.first_key_value() {
            let (uid, fate, owner) = (*uid, task.fate, task.owner.clone());
            let mut done = None;
            let next = |world: &Self, done: &Option<ObjectKey>| {
                let all = world.dependents_of(&uid).into_iter();
                all.filter(|key| Some(key) > done.as_ref()).min()
            };
            if !task.looked {
                while let Some(key) = next(self, &done) {
                    self.deal_with(&key, uid, fate, wall, &mut tasks);
                    done = Some(key);
                }
            }
            tasks.remove(&uid);
            self.finish(&owner, uid, fate, &mut tasks);
        }
    }

    fn deal_with(
        &mut self,
        key: &ObjectKey,
        owner: Uid,
        fate: Fate,
        wall: WallTime,
        tasks: &mut Tasks,
    ) {
        let dependent = self.objects[key].clone();
        let mut others = dependent.attributes.owners.iter();
        let others_live = others.any(|reference| {
            reference.uid != owner
                && self
                    .owner(key, reference)
                    .is_some_and(|other| !waits(other))
        });
        if fate == Fate::Orphan || others_live {
            let mut object = dependent;
            object.attributes.owners = object.attributes.owners.without(&owner);
            object.metadata.resource_version = self.revision;
            self.exchange(object, tasks);
        } else if dependent.deletion.is_none() {
            let owns = !self.dependents_of(&dependent.metadata.uid).is_empty();
            let in_turn = (fate == Fate::Foreground && owns).then_some(Propagation::Foreground);
            self.let_go(key, in_turn, wall, tasks);
        }
    }

    fn finish(&mut self, owner: &ObjectKey, uid: Uid, fate: Fate, tasks: &mut Tasks) {
        let finalizer = match fate {
            Fate::Background => return,
            Fate::Foreground => "foregroundDeletion",
            Fate::Orphan => "orphan",
        };
        let Some(mut object) = self.objects.get(owner).cloned() else {
            return;
        };
        if object.metadata.uid != uid || !object.attributes.finalizers.contains(finalizer) {
            return;
        }
        if fate == Fate::Foreground && self.is_blocked(&object) {
            return;
        }
        object.attributes.finalizers = object.attributes.finalizers.without(finalizer);
        if object.attributes.finalizers.is_empty() {
            self.remove(owner, tasks);
        } else {
            object.metadata.resource_version = self.revision;
            self.exchange(object, tasks);
        }
    }

    fn is_blocked(&self, owner: &Object) -> bool {
        let began = |object: &Object| {
            let deletion = object.deletion.as_ref();
            deletion.map(|deletion| (deletion.revision, deletion.position))
        };
        self.objects.values().any(|dependent| {
            let reference = dependent.attributes.owners.get(&owner.metadata.uid);
            let waits_longer = waits(dependent) && began(dependent) <= began(owner);
            reference.is_some_and(|reference| reference.block_owner_deletion) && !waits_longer
        })
    }

    pub(super) fn settled(&self, key: &ObjectKey, mut written: Written) -> Written {
        let object = self.objects.get(key);
        let is_there = object.is_some_and(|object| object.metadata.uid == written.uid);
        if written.how == WrittenHow::Deleting && !is_there {
            written.how = WrittenHow::Deleted;
        }
        written
    }

    fn dependents_of(&self, uid: &Uid) -> Vec<ObjectKey> {
        let objects = self.objects.values();
        let named = objects.filter(|object| object.attributes.owners.get(uid).is_some());
        named.map(|object| object.key.clone()).collect()
    }

    /// The owner that a reference names: of its group and kind, in the same namespace or without one.
    pub(super) fn owner(
        &self,
        dependent: &ObjectKey,
        reference: &OwnerReference,
    ) -> Option<&Object> {
        self.objects.values().find(|object| {
            let collection = &self.collections[&object.key.resource];
            let namespace = object.key.name.namespace();
            object.metadata.uid == reference.uid
                && object.key.name.name() == reference.name.as_str()
                && collection.kind == reference.kind
                && object.key.resource.group() == reference.api_version.group()
                && (namespace.is_none() || namespace == dependent.name.namespace())
        })
    }
}

/// How the dependents are to be processed: as the deletion says, or else as the finalizers say.
fn asked(propagation: Option<Propagation>, finalizers: &Finalizers) -> Propagation {
    match propagation {
        Some(asked) => asked,
        None if finalizers.contains("orphan") => Propagation::Orphan,
        None if finalizers.contains("foregroundDeletion") => Propagation::Foreground,
        None => Propagation::Background,
    }
}

/// What is done for dependents while the owner stays, and the finalizer that keeps it.
fn waiting(asked: Propagation) -> Option<(Fate, &'static str)> {
    match asked {
        Propagation::Background => None,
        Propagation::Foreground => Some((Fate::Foreground, "foregroundDeletion")),
        Propagation::Orphan => Some((Fate::Orphan, "orphan")),
    }
}

fn waits(object: &Object) -> bool {
    let finalizers = &object.attributes.finalizers;
    object.deletion.is_some() && finalizers.contains("foregroundDeletion")
}
