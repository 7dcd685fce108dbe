//! `CreateCollection`: declares a collection, so that a resource can hold objects.

use std::sync::Arc;

use synod_model::{Collection, CreateCollection, Current, ErrorKind, GroupResource, Kind, Refusal};

use super::delete_collection::COLLECTIONS;
use crate::objects::guarantee::check_can_be_strict;
use crate::turn::Turn;
use crate::voting::declare;
use crate::{Answer, State, Written, WrittenHow};

pub(crate) fn apply(turn: &mut Turn<'_>, create: &CreateCollection) -> Result<Answer, Refusal> {
    let CreateCollection {
        resource,
        kind,
        namespaced,
        rules,
    } = create;
    let state = turn.state();
    state.check_has_store(resource)?;
    if let Some(held) = state.collections.get(resource) {
        let current = Current::Collection(Arc::clone(&held.row));
        let refusal = Refusal::already_exists(COLLECTIONS, resource.qualified());
        return Err(refusal.with_current(current));
    }
    check_is_first(state, resource)?;
    check_kind_is_free(state, resource, kind)?;
    if rules.strict_storage_version {
        check_can_be_strict(state, resource)?;
    }
    if state.is_full() {
        return Err(state.full());
    }
    let row = Collection {
        resource: resource.clone(),
        metadata: turn.new_metadata(),
        kind: kind.clone(),
        namespaced: *namespaced,
        rules: *rules,
    };
    let written = Written::collection(WrittenHow::Created, &row);
    turn.put_collection(row);
    if !turn.state().storage_states.contains_key(resource) {
        let status = declare(turn.state(), turn.occasion(), resource);
        turn.put_storage_state(resource, status, None);
    }
    Ok(Answer::Wrote(written))
}

/// Refuses another name of a store with several: the first one has the collection.
fn check_is_first(state: &State, resource: &GroupResource) -> Result<(), Refusal> {
    let first = state.first_name(resource);
    if *first == *resource {
        return Ok(());
    }
    let message = format!(
        "resource {} is another name of {}: create the collection under that one",
        resource.qualified(),
        first.qualified()
    );
    Err(Refusal::new(ErrorKind::Conflict, message).with("resource", first))
}

/// Refuses a kind that another collection of the resource's group has.
pub(super) fn check_kind_is_free(
    state: &State,
    resource: &GroupResource,
    kind: &Kind,
) -> Result<(), Refusal> {
    let Some(other) = state.kinds.get(&(resource.group().into(), kind.clone())) else {
        return Ok(());
    };
    let message = format!(
        "collection {} has the kind {kind} already: one group and kind means one resource",
        other.qualified()
    );
    Err(Refusal::new(ErrorKind::AlreadyExists, message))
}
