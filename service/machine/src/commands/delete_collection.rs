//! `DeleteCollection`: removes a collection that holds no object. The resource's storage state stays.

use std::sync::Arc;

use synod_model::{Current, DeleteCollection, ErrorKind, GroupResource, Metadata, Refusal};

use crate::objects::Held;
use crate::turn::Turn;
use crate::{Answer, State, Written, WrittenHow};

/// The resource name of collections, in Kubernetes' wording.
pub(super) const COLLECTIONS: &str = "collections";

pub(crate) fn apply(turn: &mut Turn<'_>, delete: &DeleteCollection) -> Result<Answer, Refusal> {
    let DeleteCollection {
        resource,
        preconditions,
    } = delete;
    let held = found(turn.state(), resource, |metadata| {
        preconditions.fault_of_delete(metadata)
    })?;
    let objects = held.len();
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
    fault: impl FnOnce(&Metadata) -> Option<String>,
) -> Result<&'a Held, Refusal> {
    let held = state.collections.get(resource);
    let held = held.ok_or_else(|| Refusal::no_collection(resource))?;
    let metadata = &held.row.metadata;
    let Some(fault) = fault(metadata) else {
        return Ok(held);
    };
    let current = Current::Collection(Arc::clone(&held.row));
    Err(Refusal::conflict(COLLECTIONS, resource.qualified(), fault)
        .with_current(current)
        .with("resource_version", metadata.resource_version))
}
