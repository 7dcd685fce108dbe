use crate::{ChangeType, Event, Events, Object as Changed, ObjectKind, Revision};
use serde_json::{Value, json};
use synod_proto::v1;

use super::{
    Object, collection, controller_revision, lease, lease_candidate, list, member, migration,
    resource, revision, roster, settings, storage_state, storage_version_change, stored_object,
};

/// The message `WatchEvents`: all that one revision changed.
pub fn events(events: &Events) -> Value {
    json!({
        "revision": revision(events.revision),
        "events": list(&events.events, event),
    })
}

/// The part of the message `WatchBookmark` that is about the watch.
pub fn bookmark(at: Revision) -> Value {
    json!({"revision": revision(at)})
}

/// The message `Event`.
pub fn event(event: &Event) -> Value {
    let change = match event.change {
        ChangeType::Added => "EVENT_TYPE_ADDED",
        ChangeType::Modified => "EVENT_TYPE_MODIFIED",
        ChangeType::Removed => "EVENT_TYPE_REMOVED",
    };
    let document = Object::new()
        .with("type", change)
        .with("kind", kind(event.kind))
        .with("name", event.name.as_str())
        .with("namespace", event.namespace.as_str())
        .with_some("resource", event.resource.as_ref().map(resource));
    let document = match &event.object {
        Some(Changed::Member(object)) => document.with("member", member(object)),
        Some(Changed::StorageVersion(change)) => {
            document.with("storageVersion", storage_version_change(change))
        }
        Some(Changed::StorageState(object)) => document.with("storageState", storage_state(object)),
        Some(Changed::Migration(object)) => document.with("migration", migration(object)),
        Some(Changed::Roster(object)) => document.with("roster", roster(object)),
        Some(Changed::Settings(object)) => document.with("settings", settings(object)),
        Some(Changed::Collection(object)) => document.with("collection", collection(object)),
        Some(Changed::Stored(object)) => document.with("storedObject", stored_object(object)),
        Some(Changed::ControllerRevision(object)) => {
            document.with("controllerRevision", controller_revision(object))
        }
        Some(Changed::Lease(object)) => document.with("lease", lease(object)),
        Some(Changed::LeaseCandidate(object)) => {
            document.with("leaseCandidate", lease_candidate(object))
        }
        // Found gone by a resync, which does not know what it was like.
        None => document,
    };
    document.into()
}

/// The value of the enum `ObjectKind`.
#[must_use]
pub fn kind(kind: ObjectKind) -> &'static str {
    v1::ObjectKind::from(kind).as_str_name()
}
