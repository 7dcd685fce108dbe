//! Deletes objects and processes their dependents.
//!
//! The work for the dependents of an owner is a [`Garbage`] row, and [`collect`] processes those rows up to a bound.
//! The rest stays in the state, and the leader proposes commands that continue: so a deletion is finished whichever
//! replica leads, and no command grows with the number of dependents.

use std::sync::Arc;

use synod_model::limits::{DEPENDENT_BYTES_PER_COMMAND_MAX, DEPENDENTS_PER_COMMAND_MAX};
use synod_model::{
    Deletion, Finalizer, Finalizers, NamespacedName, Object, ObjectKey, OwnerReference,
    OwnerReferences, PackedObject, Propagation, Revision, Uid,
};

use super::{Cursor, Fate, Garbage};
use crate::hashes::object_hash;
use crate::turn::Turn;
use crate::{Holder, State, Written, WrittenHow};

/// The work that one command may still do.
struct Budget {
    steps: u32,
    bytes: u64,
}

impl Budget {
    fn is_spent(&self) -> bool {
        self.steps == 0 || self.bytes == 0
    }

    fn spend(&mut self, bytes: u64) {
        self.steps = self.steps.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// Deletes the object, or marks it as being deleted. A deletion under way follows the last given propagation.
pub(crate) fn delete(
    turn: &mut Turn<'_>,
    object: &Object,
    propagation: Option<Propagation>,
) -> WrittenHow {
    let uid = object.metadata.uid;
    let going = Going::of(
        &object.attributes.finalizers,
        propagation,
        turn.state().dependents.any(&uid),
    );
    if object.deletion.is_some() {
        return match propagation {
            Some(_) if !going.is_under_way(object) => switch(turn, object, going),
            Some(_) | None => WrittenHow::Unchanged,
        };
    }
    if going.finalizers.is_empty() {
        remove(turn, object);
        return WrittenHow::Deleted;
    }
    let mut marked = object.clone();
    marked.deletion = Some(Arc::new(turn.new_deletion()));
    marked.metadata.generation += 1;
    turn.clear_deadline(&Holder::Object(object.key.clone()));
    mark(turn, object, marked, going);
    WrittenHow::Deleting
}

/// The finalizers of a deleted object, and the fate of its dependents.
struct Going {
    finalizers: Finalizers,
    /// What happens to its dependents before it is removed; `None`: nothing.
    fate: Option<Fate>,
}

impl Going {
    /// Computes this from the object's finalizers and a propagation, by default the one that the finalizers ask for.
    /// Without dependents (`waits` is false) the object waits for none.
    fn of(finalizers: &Finalizers, propagation: Option<Propagation>, waits: bool) -> Self {
        let asked = propagation.unwrap_or_else(|| asked_by(finalizers));
        let others = finalizers
            .without(Finalizers::FOREGROUND)
            .without(Finalizers::ORPHAN);
        let (finalizers, fate) = match asked {
            Propagation::Foreground if waits => {
                (others.with(Finalizer::foreground()), Some(Fate::Foreground))
            }
            Propagation::Orphan if waits => (others.with(Finalizer::orphan()), Some(Fate::Orphan)),
            Propagation::Foreground | Propagation::Orphan | Propagation::Background => {
                (others, None)
            }
        };
        Self { finalizers, fate }
    }

    /// Whether an object that is being deleted already follows this.
    fn is_under_way(&self, object: &Object) -> bool {
        let now = &object.attributes.finalizers;
        let both_or_neither = |name| self.finalizers.contains(name) == now.contains(name);
        both_or_neither(Finalizers::FOREGROUND) && both_or_neither(Finalizers::ORPHAN)
    }
}

/// Changes how an object under deletion goes, as Kubernetes does: the finalizers are exchanged, and if none is left the
/// object is removed at once. Its dependents are processed again from the first one; what was done to them stays done.
fn switch(turn: &mut Turn<'_>, object: &Object, going: Going) -> WrittenHow {
    turn.remove_garbage(&object.metadata.uid);
    if going.finalizers.is_empty() {
        remove(turn, object);
        return WrittenHow::Deleted;
    }
    let mut marked = object.clone();
    if going.fate == Some(Fate::Foreground) {
        // Among owners that wait for each other it becomes the last: see `is_blocked`.
        let at = marked.deletion.as_ref().map(|deletion| deletion.at);
        let began = turn.new_deletion();
        let at = at.unwrap_or(began.at);
        marked.deletion = Some(Arc::new(Deletion { at, ..began }));
    }
    mark(turn, object, marked, going);
    WrittenHow::Deleting
}

/// Replaces the present object by the marked one, and leaves the work for its dependents.
fn mark(turn: &mut Turn<'_>, present: &Object, mut marked: Object, going: Going) {
    marked.attributes.finalizers = going.finalizers;
    marked.metadata.resource_version = turn.revision();
    put(turn, present, marked);
    if let Some(fate) = going.fate {
        turn.put_garbage(
            present.metadata.uid,
            Garbage {
                owner: present.key.clone(),
                fate,
                cursor: Cursor::Start,
            },
        );
    }
}

/// The propagation that an object's finalizers ask for, if the deletion names none.
fn asked_by(finalizers: &Finalizers) -> Propagation {
    if finalizers.contains(Finalizers::ORPHAN) {
        Propagation::Orphan
    } else if finalizers.contains(Finalizers::FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    }
}

/// Removes the object at once. [`collect`] processes its dependents and its owners.
pub(crate) fn remove(turn: &mut Turn<'_>, object: &Object) {
    let uid = object.metadata.uid;
    turn.remove_object(&object.key);
    if turn.state().dependents.any(&uid) && turn.state().garbage_of(&uid).is_none() {
        turn.put_garbage(
            uid,
            Garbage {
                owner: object.key.clone(),
                fate: Fate::Background,
                cursor: Cursor::Start,
            },
        );
    }
    release(turn, object, &OwnerReferences::default());
}

/// Replaces the present object by a changed one.
pub(crate) fn put(turn: &mut Turn<'_>, present: &Object, object: Object) {
    let owners = object.attributes.owners.clone();
    turn.put_object(object);
    release(turn, present, &owners);
}

/// Checks a waiting owner again when one of its dependents is removed or drops its reference.
fn release(turn: &mut Turn<'_>, before: &Object, kept: &OwnerReferences) {
    for reference in before.attributes.owners.iter() {
        let stays = kept.get(&reference.uid);
        if stays.is_some_and(|stays| stays.block_owner_deletion >= reference.block_owner_deletion) {
            continue;
        }
        let Some(owner) = turn.state().owner(&before.key.name, reference) else {
            continue;
        };
        if waits_in_foreground(owner) && turn.state().garbage_of(&reference.uid).is_none() {
            let garbage = Garbage {
                owner: owner.key(),
                fate: Fate::Foreground,
                cursor: Cursor::End,
            };
            turn.put_garbage(reference.uid, garbage);
        }
    }
}

/// Whether the object is being deleted and its dependents must be processed first.
pub(crate) fn waits_for_dependents(object: &PackedObject) -> bool {
    waits_for(object, Finalizers::FOREGROUND) || waits_for(object, Finalizers::ORPHAN)
}

fn waits_in_foreground(object: &PackedObject) -> bool {
    waits_for(object, Finalizers::FOREGROUND)
}

fn waits_for(object: &PackedObject, finalizer: &str) -> bool {
    object.deletion().is_some() && object.attributes().finalizers.contains(finalizer)
}

/// Processes the dependents that this command has left, up to a bound. It does nothing if earlier commands have left
/// work: a small change does not pay for a large deletion.
pub(crate) fn collect_own(turn: &mut Turn<'_>) {
    if !turn.has_backlog() {
        collect(turn, None);
    }
}

/// Continues the work that earlier commands have left, up to a bound, and returns the number of steps.
///
/// Each command begins with another owner: uids are in no meaningful order, nor is the uid that is derived from the
/// command's revision. If it always began with the lowest, an owner with a high uid could wait for as long as others
/// are deleted faster than they are processed.
pub(crate) fn collect_backlog(turn: &mut Turn<'_>) -> u32 {
    let cluster = turn.state().cluster().copied();
    let from = cluster.map(|cluster| Uid::derive(&cluster, turn.revision(), 0));
    collect(turn, from)
}

/// Processes dependents up to a bound, of owners from the uid `from` on first. Returns the number of steps.
fn collect(turn: &mut Turn<'_>, from: Option<Uid>) -> u32 {
    let mut budget = Budget {
        steps: DEPENDENTS_PER_COMMAND_MAX,
        bytes: DEPENDENT_BYTES_PER_COMMAND_MAX as u64,
    };
    while !budget.is_spent() {
        let garbage = &turn.state().garbage;
        let next = from.and_then(|from| garbage.get_next(&from));
        let next = next.or_else(|| garbage.get_min().map(|(uid, garbage)| (uid, garbage)));
        let Some((uid, garbage)) = next.map(|(uid, garbage)| (*uid, Arc::clone(garbage))) else {
            break;
        };
        work_on(turn, uid, &garbage, &mut budget);
    }
    DEPENDENTS_PER_COMMAND_MAX - budget.steps
}

/// The result of a write after [`collect_own`]: an object that was only marked may have been removed by then.
pub(crate) fn settled(turn: &Turn<'_>, key: &ObjectKey, written: Written) -> Written {
    let object = turn.state().packed_object(key);
    match object.filter(|object| object.metadata().uid == written.uid) {
        None if written.how == WrittenHow::Deleting => Written {
            how: WrittenHow::Deleted,
            ..written
        },
        Some(_) | None => written,
    }
}

/// Processes the dependents of one owner within the budget.
fn work_on(turn: &mut Turn<'_>, uid: Uid, garbage: &Garbage, budget: &mut Budget) {
    let mut cursor = garbage.cursor.clone();
    while !budget.is_spent() {
        let after = match &cursor {
            Cursor::Start => None,
            Cursor::After(key) => Some(key),
            Cursor::End => {
                turn.remove_garbage(&uid);
                finish(turn, uid, garbage);
                budget.spend(0);
                return;
            }
        };
        cursor = match turn.state().dependents.next(&uid, after).cloned() {
            None => Cursor::End,
            Some(key) => {
                budget.spend(deal_with(turn, uid, garbage.fate, &key));
                Cursor::After(key)
            }
        };
    }
    turn.put_garbage(
        uid,
        Garbage {
            cursor,
            ..garbage.clone()
        },
    );
}

/// Processes one dependent, and returns the bytes that the events take: the object may be in them before and after, and
/// snapshots may lose a mark with it.
fn deal_with(turn: &mut Turn<'_>, owner: Uid, fate: Fate, key: &ObjectKey) -> u64 {
    let dependent = turn.state().object(key);
    let dependent = dependent.expect("the index of dependents names objects that are there");
    let bytes = object_hash(&dependent).bytes();
    let tied = turn.state().bytes_marked_by(&dependent.metadata.uid) as u64;
    let others_live = dependent
        .attributes
        .owners
        .iter()
        .filter(|reference| reference.uid != owner)
        .any(|reference| lives(turn.state(), &key.name, reference));
    match fate {
        Fate::Background | Fate::Foreground if others_live => forget(turn, &dependent, owner),
        Fate::Orphan => forget(turn, &dependent, owner),
        // It is already being deleted, in the way it was asked to.
        Fate::Background | Fate::Foreground if dependent.deletion.is_some() => {}
        // Its own dependents, if it has any, are deleted before it.
        Fate::Foreground if turn.state().dependents.any(&dependent.metadata.uid) => {
            delete(turn, &dependent, Some(Propagation::Foreground));
        }
        Fate::Background | Fate::Foreground => {
            delete(turn, &dependent, None);
        }
    }
    match turn.state().packed_object(key) {
        Some(_) => 2 * bytes,
        None => bytes + tied,
    }
}

/// Whether an owner exists and is not itself waiting for its dependents to be deleted.
fn lives(state: &State, dependent: &NamespacedName, reference: &OwnerReference) -> bool {
    state
        .owner(dependent, reference)
        .is_some_and(|owner| !waits_in_foreground(owner))
}

/// Removes the reference to the owner from the dependent.
fn forget(turn: &mut Turn<'_>, dependent: &Object, owner: Uid) {
    let mut object = dependent.clone();
    object.attributes.owners = object.attributes.owners.without(&owner);
    object.metadata.resource_version = turn.revision();
    put(turn, dependent, object);
}

/// Called when all dependents are processed: removes the owner unless it waits for something else.
fn finish(turn: &mut Turn<'_>, uid: Uid, garbage: &Garbage) {
    let finalizer = match garbage.fate {
        Fate::Background => return,
        Fate::Foreground => Finalizers::FOREGROUND,
        Fate::Orphan => Finalizers::ORPHAN,
    };
    let owner = turn.state().object(&garbage.owner);
    let Some(owner) = owner.filter(|owner| {
        owner.metadata.uid == uid && owner.attributes.finalizers.contains(finalizer)
    }) else {
        return;
    };
    if garbage.fate == Fate::Foreground && is_blocked(turn.state(), &owner) {
        return;
    }
    let finalizers = owner.attributes.finalizers.without(finalizer);
    if finalizers.is_empty() {
        remove(turn, &owner);
        return;
    }
    let mut object = owner.clone();
    object.attributes.finalizers = finalizers;
    object.metadata.resource_version = turn.revision();
    put(turn, &owner, object);
}

/// Whether a dependent prevents the removal of the owner.
///
/// Owners can be each other's dependents. So a dependent that waits for its own dependents, and whose deletion began
/// before the owner's, does not count: of owners that wait for each other, the last to begin is removed first.
fn is_blocked(state: &State, owner: &Object) -> bool {
    let mut blocking = state.dependents.blocking(&owner.metadata.uid);
    blocking.any(|key| {
        let dependent = state.packed_object(key);
        let dependent = dependent.expect("the index of dependents names objects that are there");
        !(waits_in_foreground(dependent)
            && began(dependent.deletion()) <= began(owner.deletion.as_deref()))
    })
}

fn began(deletion: Option<&Deletion>) -> Option<(Revision, u32)> {
    deletion.map(|deletion| (deletion.revision, deletion.position))
}
