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

use crate::kinds::Kind;
use crate::negotiate::Form;
use crate::status::Fault;
use crate::table::{Include, columns, metadata_only, row};

pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;
pub(crate) type Response = http::Response<Body>;

/// Bytes of one warning.
const WARNING_BYTES_MAX: usize = 256;

/// Bytes of all warnings of an answer.
const WARNINGS_BYTES_MAX: usize = 4 << 10;

static JSON: HeaderValue = HeaderValue::from_static("application/json");
static FRESH: HeaderValue = HeaderValue::from_static("no-cache, private");

/// In which form objects are told, and as of when.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    pub(crate) form: Form,
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
        let mut metadata = json!({ "resourceVersion": revision.to_string() });
        if !next.is_empty() {
            metadata["continue"] = json!(next);
        }
        format!("],\"metadata\":{metadata}}}\n")
    }
}

/// The text of a document, in which the letters are escaped that Go escapes: its clients keep the data of a snapshot as it is
/// written, and compare it byte by byte with what they have written themselves.
pub(crate) fn text(document: &Value) -> String {
    const ESCAPED: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];
    let text = document.to_string();
    if !text.contains(ESCAPED) {
        return text;
    }
    // They stand in strings alone, and none of them behind the backslash of another escape.
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match ESCAPED.contains(&letter) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => escaped.push(letter),
        }
    }
    escaped
}

/// An answer of one document.
pub(crate) fn document(origin: &Origin, code: u16, document: &Value) -> Response {
    let mut text = text(document);
    text.push('\n');
    whole(origin, code, &JSON, text.into())
}

/// An answer of these bytes.
pub(crate) fn whole(origin: &Origin, code: u16, media: &HeaderValue, bytes: Bytes) -> Response {
    streamed(code, media, stream::iter([Ok(origin.counted(bytes))]))
}

/// An answer that is sent as it comes.
pub(crate) fn parts(
    parts: impl Stream<Item = io::Result<Vec<Bytes>>> + Send + 'static,
) -> Response {
    streamed(200, &JSON, parts)
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
pub(crate) fn fault(origin: &Origin, fault: &Fault) -> Response {
    let mut response = document(origin, fault.code, &fault.status());
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
    fn letters_are_escaped_as_go_escapes_them() {
        let document = json!({"command": "a && b <c> \\<\u{2028}", "ä": 1});
        let written = text(&document);
        assert_eq!(
            written,
            r#"{"command":"a \u0026\u0026 b \u003cc\u003e \\\u003c\u2028","ä":1}"#
        );
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read, document);
        assert_eq!(text(&json!(["x"])), r#"["x"]"#);
    }

    #[test]
    fn warnings_are_cut_each_and_all_of_them() {
        let mut response = parts(stream::empty());
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
