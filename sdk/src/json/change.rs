use serde_json::{Value, json};

use super::{
    Object, collection, controller_revision, header, lease, list, member, resource, revision,
    roster, settings, stored_object, version,
};
use crate::{Current, Reported, ReportedResource};

/// The object as it stands, as the message of its kind.
pub fn current(current: &Current) -> Value {
    match current {
        Current::Settings(object) => settings(object),
        Current::Member(object) => member(object),
        Current::Collection(object) => collection(object),
        Current::Object(object) => stored_object(object),
        Current::ControllerRevision(object) => controller_revision(object),
        Current::Lease(object) => lease(object),
        Current::Roster(object) => roster(object),
    }
}

/// The message `StorageVersionsReportResponse`.
pub fn reported(reported: &Reported) -> Value {
    json!({
        "header": header(&reported.header),
        "changed": reported.changed,
        "resources": list(&reported.resources, reported_resource),
    })
}

fn reported_resource(told: &ReportedResource) -> Value {
    Object::new()
        .with("resource", resource(&told.resource))
        .with_some("encodingVersion", version(told.encoding.as_ref()))
        .with_some("selectedVersion", version(told.selected.as_ref()))
        .with("selectedRevision", revision(told.selected_revision))
        .with_some("adoptedRevision", told.adopted_revision.map(revision))
        .into()
}
