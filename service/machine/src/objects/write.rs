//! Writes an object: what create, update and patch share, alone and in a transaction.

use std::fmt::Display;
use std::sync::Arc;

use synod_model::{
    Attributes, Collection, Content, Current, Fences, NamespacedName, Object, ObjectKey,
    OwnerReferences, Preconditions, Refusal, Ttl, TtlChange, Violation, Violations,
};

use super::{Held, deletion, guarantee, status};
use crate::hashes::object_hash;
use crate::turn::Turn;
use crate::{Holder, State, Written, WrittenHow};

/// The collection of a key. Its scope must fit the key's namespace.
///
/// # Errors
///
/// `NOT_FOUND` without such a collection; `INVALID_ARGUMENT` for a key with a namespace in a collection without
/// namespaces, and the other way round.
pub(crate) fn collection<'a>(state: &'a State, key: &ObjectKey) -> Result<&'a Held, Refusal> {
    let held = state
        .collections
        .get(&key.resource)
        .ok_or_else(|| Refusal::no_collection(&key.resource))?;
    let rule = match (held.row.namespaced, key.name.namespace()) {
        (true, Some(_)) | (false, None) => return Ok(held),
        (true, None) => Violation::required(format_args!(
            "{} live in namespaces",
            key.resource.qualified()
        )),
        (false, Some(namespace)) => Violation::invalid(
            namespace,
            format_args!("{} live in no namespace", key.resource.qualified()),
        ),
    };
    Err(invalid(rule.at("key.namespace")))
}

/// A refusal for one broken rule.
pub(crate) fn invalid(violation: Violation) -> Refusal {
    let violations = Violations::from(violation);
    let refused = violations.into_result();
    refused.expect_err("one violation is enough to refuse")
}

/// Whether the member and lease tokens that the request names still hold.
pub(crate) fn check_fences(state: &State, fences: &Fences) -> Result<(), Refusal> {
    let Fences {
        if_member,
        if_lease,
    } = fences;
    if let Some((member, epoch)) = if_member {
        state.fenced(member, *epoch)?;
    }
    if let Some((lease, token)) = if_lease {
        state.holds_lease(lease, *token)?;
    }
    Ok(())
}

/// Whether the present object is the one that an update or patch was made for.
pub(crate) fn check_preconditions(
    preconditions: &Preconditions,
    object: &Object,
) -> Result<(), Refusal> {
    match preconditions.fault_of_update(&object.metadata) {
        None => Ok(()),
        Some(fault) => Err(conflict(object, fault)),
    }
}

/// The refusal of a change that was made for another state of the object.
pub(crate) fn conflict(object: &Object, why: impl Display) -> Refusal {
    object
        .key
        .conflict(why)
        .with_current(Current::Object(Arc::new(object.clone())))
        .with("resource_version", object.metadata.resource_version)
}

/// Stores an object under a free key.
pub(crate) fn create(
    turn: &mut Turn<'_>,
    key: &ObjectKey,
    attributes: &Attributes,
    content: &Content,
    ttl: Option<Ttl>,
) -> Result<Written, Refusal> {
    let held = collection(turn.state(), key)?;
    let row = Arc::clone(&held.row);
    guarantee::check(turn.state(), &row, &content.encoding)?;
    check_owners(turn.state(), &key.name, attributes, None)?;
    let object = Object {
        key: key.clone(),
        metadata: turn.new_metadata(),
        attributes: attributes.clone(),
        deletion: None,
        content: content.clone(),
        content_revision: turn.revision(),
    };
    check_room(turn.state(), &object, None)?;
    let written = Written::of(WrittenHow::Created, &object);
    put(turn, &row, object, None);
    if let Some(ttl) = ttl {
        turn.set_deadline(Holder::Object(key.clone()), ttl.duration());
    }
    Ok(written)
}

/// Where the new content of an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// A writer has encoded the whole content.
    Whole,
    /// The stored content with a part changed.
    InPart,
}

/// Replaces the attributes and content of an object. If nothing changes, there is no write.
pub(crate) fn replace(
    turn: &mut Turn<'_>,
    present: &Object,
    attributes: &Attributes,
    (content, encoded): (&Content, Encoded),
    ttl: TtlChange,
) -> Result<Written, Refusal> {
    let key = &present.key;
    let row = Arc::clone(&collection(turn.state(), key)?.row);
    let rewritten = *content != present.content;
    if rewritten {
        guarantee::check(turn.state(), &row, &content.encoding)?;
    }
    check_owners(turn.state(), &key.name, attributes, Some(present))?;
    check_finalizers(present, attributes)?;
    let same = !rewritten && *attributes == present.attributes;
    let written = if same {
        Written::of(WrittenHow::Unchanged, present)
    } else {
        let mut object = Object {
            attributes: attributes.clone(),
            content: content.clone(),
            ..present.clone()
        };
        object.metadata.resource_version = turn.revision();
        let desires_other = rewritten && status::is_about_more(&row, &present.content, content);
        object.metadata.generation += u64::from(desires_other);
        if rewritten && encoded == Encoded::Whole {
            object.content_revision = turn.revision();
        }
        check_room(turn.state(), &object, Some(present))?;
        if object.deletion.is_some() && attributes.finalizers.is_empty() {
            deletion::remove(turn, present);
            return Ok(Written::deleted(turn.revision(), present));
        }
        let written = Written::of(WrittenHow::Updated, &object);
        put(turn, &row, object, Some(present));
        written
    };
    // An object that is being deleted has no deadline any more, and gets none.
    if present.deletion.is_none() {
        match ttl {
            TtlChange::Keep => {}
            TtlChange::Set(ttl) => turn.set_deadline(Holder::Object(key.clone()), ttl.duration()),
            TtlChange::Remove => turn.clear_deadline(&Holder::Object(key.clone())),
        }
    }
    Ok(written)
}

fn put(turn: &mut Turn<'_>, row: &Collection, mut object: Object, present: Option<&Object>) {
    // What names the collection is stored once, however many objects are in it.
    object.key.resource = row.resource.clone();
    turn.persist(&row.resource, &row.kind, &object.content.encoding);
    match present {
        Some(present) => deletion::put(turn, present, object),
        None => turn.put_object(object),
    }
}

/// Every new owner must exist, and must not be waiting for its dependents to be deleted.
///
/// An owner in another namespace counts as missing. A uid that the object named before does not vouch for another kind
/// or name: an owner is looked up by kind, name and uid.
fn check_owners(
    state: &State,
    name: &NamespacedName,
    attributes: &Attributes,
    present: Option<&Object>,
) -> Result<(), Refusal> {
    let none = OwnerReferences::default();
    let known = present.map_or(&none, |present| &present.attributes.owners);
    let mut violations = Violations::new();
    for (i, reference) in attributes.owners.iter().enumerate() {
        let kept = known.get(&reference.uid);
        if kept.is_some_and(|kept| kept.names_the_same(reference)) {
            continue;
        }
        let field = format!("ownerReferences[{i}]");
        match state.owner(name, reference) {
            None => {
                let rule = format_args!(
                    "must be an object of the same namespace or without one: there is no {} {} with uid {}",
                    reference.kind, reference.name, reference.uid
                );
                violations.push(Violation::invalid(reference.name.as_str(), rule).at(&field));
            }
            Some(owner) if deletion::waits_for_dependents(owner) => {
                let rule = "is being deleted, and waits for its dependents to go";
                violations.push(Violation::invalid(reference.name.as_str(), rule).at(&field));
            }
            Some(_) => {}
        }
    }
    violations.into_result()
}

/// Refuses new finalizers for an object that is being deleted.
fn check_finalizers(present: &Object, attributes: &Attributes) -> Result<(), Refusal> {
    if present.deletion.is_none() {
        return Ok(());
    }
    let kept = &present.attributes.finalizers;
    let new = attributes.finalizers.iter();
    let mut violations = Violations::new();
    for finalizer in new.filter(|finalizer| !kept.contains(finalizer.as_str())) {
        let rule = "no new finalizers can be added if the object is being deleted";
        violations.push(Violation::invalid(finalizer.as_str(), rule).at("finalizers"));
    }
    violations.into_result()
}

/// Refuses to make an object grow while the quota is full.
fn check_room(state: &State, object: &Object, present: Option<&Object>) -> Result<(), Refusal> {
    if !state.is_full() {
        return Ok(());
    }
    let bytes = |object: &Object| object_hash(object).bytes();
    if present.is_some_and(|present| bytes(object) <= bytes(present)) {
        return Ok(());
    }
    Err(state.full())
}
