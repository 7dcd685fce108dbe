//! Answers as they are sent.

use std::io;

use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};
use synod_server::Origin;

use crate::escaped;
use crate::kinds::Kind;
use crate::negotiate::{Form, Media};
use crate::protobuf;
use crate::status::Fault;
use crate::table::{Include, columns, metadata_only, row};

pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;
pub(crate) type Response = http::Response<Body>;

/// Bytes of one warning.
const WARNING_BYTES_MAX: usize = 256;

/// Bytes of all warnings of an answer.
const WARNINGS_BYTES_MAX: usize = 4 << 10;

static JSON: HeaderValue = HeaderValue::from_static("application/json");
static PROTOBUF: HeaderValue = HeaderValue::from_static(protobuf::MEDIA);
static PROTOBUF_OF_WATCHES: HeaderValue = HeaderValue::from_static(protobuf::MEDIA_OF_WATCHES);
static FRESH: HeaderValue = HeaderValue::from_static("no-cache, private");

/// How long an answer is that comes to its end by itself; an extension of the response.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// So many bytes.
    Bytes(usize),
    /// More than a page of a list.
    Pages,
}

/// In which form objects are told, and as of when.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) form: Form,
    pub(crate) media: Media,
    /// Whether the client takes JSON, too.
    pub(crate) or_json: bool,
    pub(crate) include: Include,
    pub(crate) now_ms: u64,
}

impl Shape {
    /// One object.
    pub(crate) fn one(&self, object: Value) -> Value {
        match self.form {
            Form::Document | Form::Discovery(_) => object,
            Form::Metadata => metadata_only("v1", &object),
            Form::Table(version) => {
                let revision = object["metadata"]["resourceVersion"].clone();
                self.table(
                    version,
                    true,
                    &json!({ "resourceVersion": revision }),
                    Some(&object),
                )
            }
        }
    }

    /// One object of a watch: only the first table tells its columns.
    pub(crate) fn one_of_many(&self, is_first: bool, object: Value) -> Value {
        match self.form {
            Form::Table(version) => {
                let revision = object["metadata"]["resourceVersion"].clone();
                self.table(
                    version,
                    is_first,
                    &json!({ "resourceVersion": revision }),
                    Some(&object),
                )
            }
            _ => self.one(object),
        }
    }

    /// That everything up to a revision was told.
    pub(crate) fn bookmark(&self, is_first: bool, metadata: &Value) -> Value {
        match self.form {
            Form::Table(version) => self.table(version, is_first, metadata, None),
            Form::Metadata => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata,
            }),
            Form::Document | Form::Discovery(_) => json!({
                "kind": self.kind.kind,
                "apiVersion": self.kind.api_version(),
                "metadata": metadata,
            }),
        }
    }

    fn table(
        &self,
        version: &str,
        with_columns: bool,
        metadata: &Value,
        object: Option<&Value>,
    ) -> Value {
        let columns = if with_columns {
            columns(&self.kind)
        } else {
            Value::Null
        };
        let rows: Vec<Value> = object
            .map(|object| row(&self.kind, version, self.include, object, self.now_ms))
            .into_iter()
            .collect();
        json!({
            "kind": "Table",
            "apiVersion": format!("meta.k8s.io/{version}"),
            "metadata": metadata,
            "columnDefinitions": columns,
            "rows": rows,
        })
    }

    /// What stands before the objects of a list.
    pub(crate) fn head(&self) -> String {
        match self.form {
            Form::Table(version) => format!(
                "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/{version}\",\"columnDefinitions\":{},\"rows\":[",
                columns(&self.kind)
            ),
            Form::Metadata => {
                "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"items\":[".to_owned()
            }
            Form::Document | Form::Discovery(_) => format!(
                "{{\"kind\":{},\"apiVersion\":{},\"items\":[",
                json!(self.kind.list_kind()),
                json!(self.kind.api_version())
            ),
        }
    }

    /// One object of a list.
    pub(crate) fn item(&self, object: &Value) -> Value {
        match self.form {
            Form::Table(version) => row(&self.kind, version, self.include, object, self.now_ms),
            Form::Metadata => metadata_only("v1", object),
            Form::Document | Form::Discovery(_) => object.clone(),
        }
    }

    /// What stands behind the objects of a list. Its metadata comes last, since only then it is known how it goes on.
    pub(crate) fn tail(revision: u64, next: &str) -> String {
        format!("],\"metadata\":{}}}\n", of_list(revision, next))
    }

    /// A list of these objects alone.
    pub(crate) fn page(&self, objects: &[Value], revision: u64, next: &str) -> Value {
        let (api_version, kind) = match self.form {
            Form::Metadata => (
                "meta.k8s.io/v1".to_owned(),
                "PartialObjectMetadataList".to_owned(),
            ),
            _ => (self.kind.api_version(), self.kind.list_kind()),
        };
        json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": of_list(revision, next),
            "items": objects.iter().map(|object| self.item(object)).collect::<Vec<_>>(),
        })
    }

    /// An event of a watch.
    pub(crate) fn event(&self, name: &str, object: &Value) -> Vec<u8> {
        let event = match self.media {
            Media::Protobuf => protobuf::event(name, object),
            Media::Json => None,
        };
        event.unwrap_or_else(|| {
            let event = json!({ "type": name, "object": object });
            format!("{}\n", escaped::text(&event)).into_bytes()
        })
    }
}

/// The metadata of a list.
fn of_list(revision: u64, next: &str) -> Value {
    let mut metadata = json!({ "resourceVersion": revision.to_string() });
    if !next.is_empty() {
        metadata["continue"] = json!(next);
    }
    metadata
}

/// An answer of one document, which is JSON if there is no message for it.
pub(crate) fn document(origin: &Origin, media: Media, code: u16, document: &Value) -> Response {
    if media == Media::Protobuf
        && let Some(message) = protobuf::written(document)
    {
        return whole(origin, code, &PROTOBUF, message);
    }
    let mut text = escaped::text(document);
    text.push('\n');
    whole(origin, code, &JSON, text.into())
}

/// An answer of this text of JSON.
pub(crate) fn text(origin: &Origin, text: String) -> Response {
    whole(origin, 200, &JSON, text.into())
}

/// An answer of these bytes.
pub(crate) fn whole(origin: &Origin, code: u16, media: &HeaderValue, bytes: Bytes) -> Response {
    let length = Length::Bytes(bytes.len());
    let mut response = streamed(code, media, stream::iter([Ok(origin.counted(bytes))]));
    response.extensions_mut().insert(length);
    response
}

/// A list of more than a page, which is sent as it comes.
pub(crate) fn pages(
    parts: impl Stream<Item = io::Result<Vec<Bytes>>> + Send + 'static,
) -> Response {
    let mut response = streamed(200, &JSON, parts);
    response.extensions_mut().insert(Length::Pages);
    response
}

/// The events of a watch, as they come.
pub(crate) fn events(
    media: Media,
    parts: impl Stream<Item = Vec<Bytes>> + Send + 'static,
) -> Response {
    let media = match media {
        Media::Json => &JSON,
        Media::Protobuf => &PROTOBUF_OF_WATCHES,
    };
    streamed(200, media, parts.map(Ok))
}

fn streamed(
    code: u16,
    media: &HeaderValue,
    parts: impl Stream<Item = io::Result<Vec<Bytes>>> + Send + 'static,
) -> Response {
    let frames = parts.flat_map(|part| {
        let frames: Vec<io::Result<Frame<Bytes>>> = match part {
            Ok(pieces) => pieces
                .into_iter()
                .map(|piece| Ok(Frame::data(piece)))
                .collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(frames)
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media.clone());
    headers.insert(CACHE_CONTROL, FRESH.clone());
    response
}

/// The answer that a request was not done.
pub(crate) fn fault(origin: &Origin, media: Media, fault: &Fault) -> Response {
    let mut response = document(origin, media, fault.code, &fault.status());
    if let Some(seconds) = fault.retry_after {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// Adds what kubectl prints as warnings. Long ones are cut, and the last of many are left out, as in Kubernetes.
pub(crate) fn warn(response: &mut Response, warnings: &[String]) {
    let mut left = WARNINGS_BYTES_MAX;
    for warning in warnings {
        let end = warning.floor_char_boundary(WARNING_BYTES_MAX);
        let (text, _) = warning.split_at(end);
        let Some(rest) = left.checked_sub(text.len()) else {
            return;
        };
        left = rest;
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{text}\"").as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_cut_each_and_all_of_them() {
        let mut response = pages(stream::empty());
        let long = format!("\"{}", "ä".repeat(1_000));
        warn(&mut response, &vec![long; 1_000]);
        let told: Vec<usize> = response
            .headers()
            .get_all(WARNING)
            .iter()
            .map(HeaderValue::len)
            .collect();
        assert_eq!(told.len(), WARNINGS_BYTES_MAX / (WARNING_BYTES_MAX - 1));
        assert!(told.iter().all(|bytes| *bytes < 300), "{told:?}");
    }
}
