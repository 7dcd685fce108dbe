//! Documents in protobuf, which typed clients of Kubernetes send and take before JSON.
//!
//! The table in [`messages`] says which member of a document a field of a message is. Everything else in this crate works with
//! documents alone: what comes in is turned into one, and what goes out was one. Members that the message does not have are not
//! told, and fields that nobody knows are not read, as it is between Kubernetes and clients of another version.
//!
//! A message stands in an envelope, which names its kind (`runtime.Unknown` behind four bytes of magic). In a watch, each event
//! is a message without one, behind its length in four bytes, and has its object in one.

mod messages;
mod reading;
mod writing;

use bytes::Bytes;
use prost::Message as _;
use serde_json::{Map, Value, json};

use crate::bounded::Budget;
use messages::Message;
pub(crate) use messages::{delete_options, of};
pub(crate) use reading::Unreadable;

/// The form of protobuf of Kubernetes.
pub(crate) const MEDIA: &str = "application/vnd.kubernetes.protobuf";

/// The form of a watch in it.
pub(crate) const MEDIA_OF_WATCHES: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// What stands before an envelope.
const MAGIC: &[u8] = b"k8s\0";

/// `runtime.Unknown`: a message in its envelope.
#[derive(Clone, PartialEq, prost::Message)]
struct Envelope {
    #[prost(message, optional, tag = "1")]
    names: Option<Names>,
    #[prost(bytes = "bytes", tag = "2")]
    message: Bytes,
    /// How the message is encoded; empty: as it is.
    #[prost(string, tag = "3")]
    encoding: String,
}

/// `runtime.TypeMeta`.
#[derive(Clone, PartialEq, prost::Message)]
struct Names {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

/// The document in an envelope. It names its kind only if the envelope does.
///
/// # Errors
///
/// It is no such message, or holds more than a document may.
pub(crate) fn read(message: &Message, bytes: &Bytes) -> Result<Value, Unreadable> {
    if !bytes.starts_with(MAGIC) {
        return Err(Unreadable::new("it does not begin as protobuf does"));
    }
    let envelope = Envelope::decode(bytes.slice(MAGIC.len()..))?;
    if !envelope.encoding.is_empty() {
        return Err(Unreadable::new("it is encoded in a way that is not read"));
    }
    let mut document = Map::new();
    let names = envelope.names.unwrap_or_default();
    for (name, text) in [("apiVersion", names.api_version), ("kind", names.kind)] {
        if !text.is_empty() {
            document.insert(name.to_owned(), json!(text));
        }
    }
    reading::read(
        message,
        &envelope.message,
        &mut document,
        &mut Budget::new(),
    )?;
    Ok(Value::Object(document))
}

/// A document in its envelope; `None` if there is no message for its kind.
pub(crate) fn written(document: &Value) -> Option<Bytes> {
    let name = |member: &str| document[member].as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (name("apiVersion"), name("kind"));
    let mut bytes = Vec::new();
    match (of(&api_version, &kind), kind.strip_suffix("List")) {
        (Some(message), _) => writing::write(message, document, &mut bytes),
        (None, Some(item)) => writing::write_list(of(&api_version, item)?, document, &mut bytes),
        (None, None) => return None,
    }
    let envelope = Envelope {
        names: Some(Names { api_version, kind }),
        message: bytes.into(),
        encoding: String::new(),
    };
    let mut whole = MAGIC.to_vec();
    envelope.encode_raw(&mut whole);
    Some(whole.into())
}

/// An event of a watch; `None` if there is no message for the kind of its object.
pub(crate) fn event(name: &str, object: &Value) -> Option<Vec<u8>> {
    Some(writing::event(name, &written(object)?))
}

#[cfg(test)]
mod tests;
