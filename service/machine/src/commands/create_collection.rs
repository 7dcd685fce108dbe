//! `CreateCollection`: declares a collection, so that a resource can hold objects.

use std::sync::Arc;

use synod_model::{Collection, CreateCollection, Current, ErrorKind, Refusal};

use super::delete_collection::COLLECTIONS;
use crate::objects::guarantee::check_can_be_strict;
use crate::turn::Turn;
use crate::voting::declare;
use crate::{Answer, Written, WrittenHow};

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
    let first = state.first_name(resource);
    if *first != *resource {
        let message = format!(
            "resource {} is another name of {}: create the collection under that one",
            resource.qualified(),
            first.qualified()
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("resource", first));
    }
    if let Some(other) = state.kinds.get(&(resource.group().into(), kind.clone())) {
        let message = format!(
            "collection {} has the kind {kind} already: one group and kind means one resource",
            other.qualified()
        );
        return Err(Refusal::new(ErrorKind::AlreadyExists, message));
    }
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
