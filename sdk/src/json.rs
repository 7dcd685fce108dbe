//! The JSON form of the values of this crate: the messages of `synod.v1` as protobuf's JSON mapping writes them.
//!
//! Keys are in lowerCamelCase, 64-bit numbers are strings since many readers of JSON keep only 53 bits, enums are their
//! full names. A field that is always there is printed even if it is empty; an optional one only if it is set. Any
//! protobuf library reads these documents back, and a filter written for them works on what `grpcurl` prints.

mod change;
mod collection;
mod controller_revision;
mod event;
mod lease;
mod member;
mod migration;
mod parse;
mod roster;
mod safety;
mod settings;
mod status;
mod storage_state;
mod storage_version;
mod stored_object;

use crate::{
    ApiVersion, Attributes, Condition, ConditionStatus, GroupResource, Header, Labels, Metadata,
    Revision,
};
use serde_json::{Map, Value, json};

pub use change::{current, reported};
pub use collection::{collection, collection_changed, collection_page, collection_view};
pub use controller_revision::{
    controller_revision, history_page, revision_diff, revision_view, rolled_back, truncated,
};
pub use event::{bookmark, event, events, kind};
pub use lease::{lease, lease_candidate, lease_page, lease_token, lease_view};
pub use member::{member, member_page, member_view};
pub use migration::{
    migration, migration_completed, migration_failure, migration_page, migration_view,
};
pub use parse::FromJson;
pub use roster::{roster, roster_changed, roster_page, roster_view};
pub use safety::{assumed, safety};
pub use settings::{settings, settings_view};
pub use status::cluster_status;
pub use storage_state::storage_state;
pub use storage_version::{
    agreement_history, storage_version, storage_version_change, storage_version_page,
    storage_version_view,
};
pub use stored_object::{annotations, object_written, owner, stored_object};

/// A JSON object whose optional fields are left out where they are unset.
#[derive(Clone, Debug, Default)]
pub struct Object(Map<String, Value>);

impl Object {
    /// An object without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a field.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// With a field, if it is set.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object.0)
    }
}

/// A 64-bit number: a string.
pub fn number(number: u64) -> Value {
    Value::String(number.to_string())
}

/// A revision, which is a 64-bit number.
#[must_use]
pub fn revision(revision: Revision) -> Value {
    number(revision.get())
}

/// A span or a time in whole milliseconds.
pub fn millis(span: std::time::Duration) -> Value {
    number(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// A list, each item in its own form.
pub fn list<T>(items: impl IntoIterator<Item = T>, each: impl Fn(T) -> Value) -> Value {
    items.into_iter().map(each).collect()
}

/// A name, a version, anything that is written as it is shown.
pub fn text(value: impl ToString) -> Value {
    Value::String(value.to_string())
}

/// A version, if there is one.
#[must_use]
pub fn version(version: Option<&ApiVersion>) -> Option<Value> {
    version.map(text)
}

/// The message `GroupResource`.
#[must_use]
pub fn resource(resource: &GroupResource) -> Value {
    json!({"group": resource.group(), "resource": resource.resource()})
}

/// Who answered, and at which revision.
pub fn header(header: &Header) -> Value {
    Object::new()
        .with("clusterId", text(header.cluster))
        .with("replicaId", number(header.replica_id))
        .with("revision", revision(header.revision))
        .with("raftTerm", number(header.raft_term))
        .with_some("ageMs", header.age.map(millis))
        .into()
}

/// What every object has that is in no collection. Only members have labels.
pub fn metadata(name: &str, metadata: &Metadata, labels: &Labels) -> Value {
    let attributes = Attributes {
        labels: labels.clone(),
        ..Attributes::default()
    };
    whole_metadata(("", name), metadata, &attributes).into()
}

/// The message `Metadata`, but for the time of a deletion.
fn whole_metadata(
    (namespace, name): (&str, &str),
    metadata: &Metadata,
    attributes: &Attributes,
) -> Object {
    let labels = &attributes.labels;
    let labels: Map<String, Value> = labels
        .iter()
        .map(|(key, value)| (key.to_owned(), text(value)))
        .collect();
    Object::new()
        .with("name", name)
        .with("uid", text(metadata.uid))
        .with("resourceVersion", revision(metadata.resource_version))
        .with("createRevision", revision(metadata.create_revision))
        .with("generation", number(metadata.generation))
        .with("creationTimeMs", number(metadata.created.as_millis()))
        .with("labels", labels)
        .with("namespace", namespace)
        .with("annotations", annotations(&attributes.annotations))
        .with("ownerReferences", list(attributes.owners.iter(), owner))
        .with("finalizers", list(attributes.finalizers.iter(), text))
}

/// The message `Condition`.
#[must_use]
pub fn condition(condition: &Condition) -> Value {
    let status = match condition.status {
        ConditionStatus::True => "CONDITION_STATUS_TRUE",
        ConditionStatus::False => "CONDITION_STATUS_FALSE",
        ConditionStatus::Unknown => "CONDITION_STATUS_UNKNOWN",
    };
    Object::new()
        .with("type", condition.kind.as_str())
        .with("status", status)
        .with("reason", condition.reason.as_str())
        .with("message", condition.message.as_str())
        .with("observedGeneration", number(condition.observed_generation))
        .with(
            "lastTransitionTimeMs",
            number(condition.transition.as_millis()),
        )
        .with(
            "lastTransitionRevision",
            revision(condition.transition_revision),
        )
        .into()
}
