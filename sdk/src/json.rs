//! The JSON form of the values of this crate: the messages of `synod.v1` as protobuf's JSON mapping writes them.
//!
//! Keys are in lowerCamelCase, 64-bit numbers are strings since many readers of JSON keep only 53 bits, enums are their
//! full names. A field that is always there is printed even if it is empty; an optional one only if it is set. Any
//! protobuf library reads these documents back, and a filter written for them works on what `grpcurl` prints.

mod documents;
mod parse;

use prost::bytes::Bytes;
use prost_reflect::DynamicMessage;
use serde_json::{Map, Value};
use synod_proto::v1;

use crate::messages;
use crate::{Annotations, ApiVersion, Current, ObjectKind, Revision};

pub use documents::Document;
pub use parse::FromJson;

/// The JSON document of a value: the message of its kind.
pub fn of<T: Document>(value: &T) -> Value {
    value.to_json()
}

/// The JSON document of the message of this type.
fn document(name: &str, message: &impl prost::Message) -> Value {
    // The decoded message shares its data with these bytes, without copying.
    let bytes = Bytes::from(message.encode_to_vec());
    let dynamic = DynamicMessage::decode(messages::descriptor(name), bytes)
        .expect("a message is read by the descriptor of its own type");
    messages::write(&dynamic)
}

/// The current object of an error, as the message of its kind.
pub fn current(current: &Current) -> Value {
    match current {
        Current::Settings(object) => of(object),
        Current::Member(object) => of(object),
        Current::Collection(object) => of(object),
        Current::Object(object) => of(object),
        Current::ControllerRevision(object) => of(object),
        Current::Lease(object) => of(object),
        Current::Roster(object) => of(object),
    }
}

/// The part of the message `WatchBookmark` that is about the watch.
pub fn bookmark(at: Revision) -> Value {
    JsonObject::new().with("revision", revision(at)).into()
}

/// The value of the enum `ObjectKind`.
#[must_use]
pub fn kind(kind: ObjectKind) -> &'static str {
    v1::ObjectKind::from(kind).as_str_name()
}

/// A JSON object whose optional fields are left out where they are unset.
#[derive(Clone, Debug, Default)]
pub struct JsonObject(Map<String, Value>);

impl JsonObject {
    /// An object without fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Adds a field, if it has a value.
    #[must_use]
    pub fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }
}

impl From<JsonObject> for Value {
    fn from(object: JsonObject) -> Self {
        Self::Object(object.0)
    }
}

/// A 64-bit number, written as a string.
pub fn number(number: u64) -> Value {
    Value::String(number.to_string())
}

/// A revision, which is a 64-bit number.
#[must_use]
pub fn revision(revision: Revision) -> Value {
    number(revision.get())
}

/// A list, each item in its own form.
pub fn list<T>(items: impl IntoIterator<Item = T>, each: impl Fn(T) -> Value) -> Value {
    items.into_iter().map(each).collect()
}

/// A name, a version or another value, as the text that it displays.
pub fn text(value: impl ToString) -> Value {
    Value::String(value.to_string())
}

/// A version, if there is one.
#[must_use]
pub fn version(version: Option<&ApiVersion>) -> Option<Value> {
    version.map(text)
}

/// The annotations, as an object of notes by key.
pub fn annotations(annotations: &Annotations) -> Value {
    let notes = annotations.iter();
    let notes = notes.map(|(key, note)| (key.to_owned(), text(note)));
    Value::Object(notes.collect())
}
