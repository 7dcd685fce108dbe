//! `DeleteCollection`: removes a collection that holds no object. What is known of the resource's storage stays.

use std::sync::Arc;

use synod_model::{Current, DeleteCollection, ErrorKind, GroupResource, Preconditions, Refusal};

use crate::objects::Held;
use crate::objects::write::no_collection;
use crate::turn::Turn;
use crate::{Answer, State, Written, WrittenHow};

pub(crate) fn apply(turn: &mut Turn<'_>, delete: &DeleteCollection) -> Result<Answer, Refusal> {
    let held = found(turn.state(), &delete.resource, &delete.preconditions)?;
    let objects = held.objects.len();
    if objects > 0 {
        let message = format!(
            "collection {} holds {objects} objects: delete them first",
            delete.resource.qualified()
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("objects", objects));
    }
    let written = Written {
        resource_version: turn.revision(),
        ..Written::collection(WrittenHow::Deleted, &held.row)
    };
    turn.remove_collection(&delete.resource);
    Ok(Answer::Wrote(written))
}

/// The collection, if it is the one that the change was made for.
pub(super) fn found<'a>(
    state: &'a State,
    resource: &GroupResource,
    preconditions: &Preconditions,
) -> Result<&'a Held, Refusal> {
    let held = state.collections.get(resource);
    let held = held.ok_or_else(|| no_collection(resource))?;
    let metadata = &held.row.metadata;
    let Some(fault) = preconditions.fault(metadata) else {
        return Ok(held);
    };
    let message = format!("collection {}: {fault}", resource.qualified());
    let current = Current::Collection(Arc::clone(&held.row));
    Err(Refusal::new(ErrorKind::Conflict, message)
        .with_current(current)
        .with("resource_version", metadata.resource_version))
}
