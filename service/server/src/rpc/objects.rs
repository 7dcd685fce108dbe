//! The service `synod.v1.Objects`.

use std::sync::Arc;

use prost::Message;
use synod_machine::{Answer, Command, Written, WrittenHow};
use synod_model::{Namespace, NamespacedName, Object, ObjectKey, ObjectName, Refusal, Transact};
use synod_proto::{Change, GetObject, ListObjects, ObjectCursor, ObjectScope, v1};

use super::calls::calls;
use super::pages::{Items, Page};
use super::{typed, unexpected};
use crate::handle::{Asking, Carried, Handle};
use crate::limits::PAGE_BYTES_MAX;
use crate::objects;
use crate::read::Reading;

calls! {
    create: ObjectsCreateRequest => ObjectsCreateResponse;
    get: ObjectsGetRequest => ObjectsGetResponse;
    list: ObjectsListRequest => ObjectsListResponse;
    update: ObjectsUpdateRequest => ObjectsUpdateResponse;
    patch: ObjectsPatchRequest => ObjectsPatchResponse;
    delete: ObjectsDeleteRequest => ObjectsDeleteResponse;
    transact: ObjectsTransactRequest => ObjectsTransactResponse;
}

async fn create(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsCreateRequest,
) -> Result<v1::ObjectsCreateResponse, Refusal> {
    let (dry_run, without_object) = (message.dry_run, message.without_object);
    let change: Change<synod_model::CreateObject> = typed(message)?;
    let key = change.body.key.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::CreateObject)
        .await?;
    let written = written(&carried)?;
    let result = objects::written(&written);
    Ok(v1::ObjectsCreateResponse {
        header: Some(handle.header(carried.done.revision)),
        uid: result.uid,
        resource_version: result.resource_version,
        object: object_of(&carried, &written, &key, without_object),
    })
}

async fn update(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsUpdateRequest,
) -> Result<v1::ObjectsUpdateResponse, Refusal> {
    let (dry_run, without_object) = (message.dry_run, message.without_object);
    let change: Change<synod_model::UpdateObject> = typed(message)?;
    let key = change.body.key.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::UpdateObject)
        .await?;
    let written = written(&carried)?;
    let result = objects::written(&written);
    Ok(v1::ObjectsUpdateResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: result.changed,
        created: result.created,
        deleted: result.deleted,
        uid: result.uid,
        resource_version: result.resource_version,
        object: object_of(&carried, &written, &key, without_object),
    })
}

async fn patch(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsPatchRequest,
) -> Result<v1::ObjectsPatchResponse, Refusal> {
    let (dry_run, without_object) = (message.dry_run, message.without_object);
    let change: Change<synod_model::PatchObject> = typed(message)?;
    let key = change.body.key.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::PatchObject)
        .await?;
    let written = written(&carried)?;
    let result = objects::written(&written);
    Ok(v1::ObjectsPatchResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: result.changed,
        deleted: result.deleted,
        uid: result.uid,
        resource_version: result.resource_version,
        object: object_of(&carried, &written, &key, without_object),
    })
}

async fn delete(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsDeleteRequest,
) -> Result<v1::ObjectsDeleteResponse, Refusal> {
    let dry_run = message.dry_run;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, Command::DeleteObject)
        .await?;
    let result = objects::written(&written(&carried)?);
    Ok(v1::ObjectsDeleteResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: result.changed,
        deleted: result.deleted,
        uid: result.uid,
        resource_version: result.resource_version,
    })
}

async fn transact(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsTransactRequest,
) -> Result<v1::ObjectsTransactResponse, Refusal> {
    let dry_run = message.dry_run;
    let change: Change<Transact> = typed(message)?;
    let reads = change.body.reads.clone();
    let carried = handle
        .carry_out(asking, change, dry_run, Command::Transact)
        .await?;
    let Answer::Transacted { succeeded, written } = &carried.done.answer else {
        return Err(unexpected(&carried.done.answer));
    };
    let reads = if *succeeded {
        Vec::new()
    } else {
        read(&carried, &reads)
    };
    Ok(v1::ObjectsTransactResponse {
        header: Some(handle.header(carried.done.revision)),
        changed: carried.done.changed,
        succeeded: *succeeded,
        results: written.iter().map(objects::written).collect(),
        reads,
    })
}

/// The objects that a transaction reads, in order; those that do not fit into the message are left out and marked so.
fn read(carried: &Carried, keys: &[ObjectKey]) -> Vec<v1::ReadResult> {
    let mut room = PAGE_BYTES_MAX;
    let mut fits = |object: &v1::Object| match room.checked_sub(object.encoded_len()) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let read = keys.iter().map(|key| {
        let found = carried.object(key);
        let object = found.as_ref().ok().cloned().flatten();
        let object = object.as_deref().map(v1::Object::from);
        match object {
            Some(object) if !fits(&object) => v1::ReadResult {
                object: None,
                left_out: true,
            },
            object => v1::ReadResult {
                object,
                left_out: found.is_err(),
            },
        }
    });
    read.collect()
}

/// The answer to a change of one object.
fn written(carried: &Carried) -> Result<Written, Refusal> {
    match &carried.done.answer {
        Answer::Wrote(written) => Ok(*written),
        answer => Err(unexpected(answer)),
    }
}

/// The object as the command left it or, if it was deleted, as it was right before; if that revision is still kept, and if
/// the caller has not asked for an answer without it.
fn object_of(
    carried: &Carried,
    written: &Written,
    key: &ObjectKey,
    without_object: bool,
) -> Option<v1::Object> {
    if without_object {
        return None;
    }
    let same = |object: &Arc<Object>| object.metadata.uid == written.uid;
    // For a deleted object, the search through all later changes is skipped.
    let is_gone = written.how == WrittenHow::Deleted;
    let left = if is_gone {
        None
    } else {
        carried.object(key).ok()?
    };
    let found = left
        .filter(same)
        .or_else(|| carried.object_before(key).filter(same));
    found.as_deref().map(Into::into)
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsGetRequest,
) -> Result<v1::ObjectsGetResponse, Refusal> {
    let GetObject { key, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let past = reading.past()?;
    let Some(object) = past.object(&key) else {
        return Err(match past.collection(&key.resource) {
            Some(_) => key.not_found(),
            None => Refusal::no_collection(&key.resource),
        });
    };
    Ok(v1::ObjectsGetResponse {
        header: Some(handle.header_of(&reading)),
        object: Some((&*object).into()),
        remaining_ms: remaining_ms(&reading, &key),
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::ObjectsListRequest,
) -> Result<v1::ObjectsListResponse, Refusal> {
    let ListObjects { scope, page } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.past()?;
    let collection = past
        .collection(&scope.resource)
        .ok_or_else(|| Refusal::no_collection(&scope.resource))?;
    let after = page.after.as_ref().map(ObjectCursor::last);
    let range = Range::of(&scope, collection.namespaced);
    let selected = |object: &Arc<Object>| scope.labels.matches(&object.attributes.labels);
    let found: Box<dyn Iterator<Item = Arc<Object>>> = match &range {
        Range::None => Box::new(std::iter::empty()),
        Range::One(name) => {
            let key = ObjectKey {
                resource: scope.resource.clone(),
                name: name.clone(),
            };
            let is_next = |object: &Arc<Object>| after.is_none_or(|after| object.key.name > *after);
            let one = past.object(&key).into_iter();
            Box::new(one.filter(is_next).filter(selected))
        }
        Range::Named(name) => {
            let named = past.objects_named(&scope.resource, name, after);
            Box::new(named.filter(selected))
        }
        Range::Many(namespace) => {
            Box::new(past.objects(&scope.resource, namespace.as_ref(), &scope.labels, after))
        }
    };
    let found = found.filter(|object| scope.fields.matches(&object.key.name));
    let Items {
        items,
        continue_token,
    } = page.take(
        handle,
        found.map(|object| {
            (
                ObjectCursor::new(&object.key.name),
                v1::ObjectListItem {
                    object: Some((&*object).into()),
                    remaining_ms: remaining_ms(&page.reading, &object.key),
                },
            )
        }),
    )?;
    Ok(v1::ObjectsListResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

/// The part of the collection that a list has to visit.
enum Range {
    /// No objects: two different namespaces are asked for at once.
    None,
    /// The one object of this name.
    One(NamespacedName),
    /// The objects of this name in all namespaces.
    Named(ObjectName),
    /// The objects of one namespace, or of all.
    Many(Option<Namespace>),
}

impl Range {
    fn of(scope: &ObjectScope, namespaced: bool) -> Self {
        // A malformed namespace matches no existing object, so the field selector excludes everything.
        let asked = scope.fields.namespace().map(Namespace::parse);
        let namespace = match (&scope.namespace, asked) {
            (Some(one), Some(Ok(other))) if *one != other => return Self::None,
            (None, Some(Ok(other))) => Some(other),
            (namespace, _) => namespace.clone(),
        };
        let name = scope
            .fields
            .name()
            .and_then(|name| ObjectName::parse(name).ok());
        match name {
            Some(name) if namespace.is_some() || !namespaced => {
                Self::One(NamespacedName::new(namespace.as_ref(), &name))
            }
            Some(name) => Self::Named(name),
            None => Self::Many(namespace),
        }
    }
}

/// The log time that an object has left; `None` for a past revision, for which deadlines are not kept.
fn remaining_ms(reading: &Reading, key: &ObjectKey) -> Option<u64> {
    if !reading.is_present() {
        return None;
    }
    let state = &reading.published().state;
    let deadline = state.object_deadline(key)?;
    u64::try_from(deadline.at.since(state.log_time()).as_millis()).ok()
}
