//! The data of a snapshot, and when the data of two snapshots is equal.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::limits::OBJECT_BYTES_MAX;
use crate::{ApiVersion, Json, MediaType, Violation};

/// What a controller wanted: a JSON object, or bytes of another media type. Never empty, never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionData {
    media_type: MediaType,
    bytes: Bytes,
    version: Option<ApiVersion>,
}

/// How the data of two snapshots is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Equality {
    /// By JSON value: the order of keys and the form of numbers do not count.
    #[default]
    Json,
    /// Byte by byte.
    Bytes,
    /// As `Json`, but members of objects that are `null`, `{}` or `[]` count as absent.
    JsonIgnoringEmpty,
}

/// The hashes of the data, one for each [`Equality`]. They compare two snapshots without reading the data again,
/// however large it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionIdentity {
    bytes: [u8; 32],
    json: [u8; 32],
    json_ignoring_empty: [u8; 32],
}

impl RevisionData {
    /// Data of this media type, checked.
    ///
    /// # Errors
    ///
    /// The data is empty or longer than the data of an object may be, or its media type is JSON and it is no JSON
    /// object.
    pub fn new(media_type: MediaType, bytes: Bytes) -> Result<Self, Violation> {
        if bytes.is_empty() {
            return Err(Violation::required("data is mandatory"));
        }
        if bytes.len() > OBJECT_BYTES_MAX {
            return Err(Violation::too_long(OBJECT_BYTES_MAX));
        }
        if media_type.is_json() {
            Json::parse_object(&bytes).map_err(|fault| Violation {
                rule: format!("data must be a valid JSON object: {}", fault.rule),
                ..fault
            })?;
        }
        Ok(Self {
            media_type,
            bytes,
            version: None,
        })
    }

    /// Data as it was stored. It is not checked again: [`new`](Self::new) checked it before.
    #[must_use]
    pub fn from_stored(media_type: MediaType, bytes: Bytes) -> Self {
        Self {
            media_type,
            bytes,
            version: None,
        }
    }

    /// The same data with the version of the controller's kind that it is written in. The version does not change the
    /// [`identity`](Self::identity).
    #[must_use]
    pub fn in_version(mut self, version: Option<ApiVersion>) -> Self {
        self.version = version;
        self
    }

    /// The version of the controller's kind that the data is written in, if the caller gave it. A check whether that
    /// version may be dropped reports the snapshot.
    #[must_use]
    pub fn version(&self) -> Option<&ApiVersion> {
        self.version.as_ref()
    }

    /// Whether media type and bytes are the same; the version does not count.
    #[must_use]
    pub fn is_same_bytes(&self, other: &Self) -> bool {
        (&self.media_type, &self.bytes) == (&other.media_type, &other.bytes)
    }

    /// The media type of the data.
    #[must_use]
    pub fn media_type(&self) -> &MediaType {
        &self.media_type
    }

    /// Its bytes, as they were given.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The data as a JSON value; `None` for data of another media type.
    #[must_use]
    pub fn json(&self) -> Option<Json> {
        if self.media_type.is_json() {
            Json::parse(&self.bytes).ok()
        } else {
            None
        }
    }

    /// The hashes that the data is compared by.
    #[must_use]
    pub fn identity(&self) -> RevisionIdentity {
        let bytes = hash(
            b"bytes",
            &[self.media_type.as_str().as_bytes(), b"\n", &self.bytes],
        );
        let Some(json) = self.json() else {
            return RevisionIdentity {
                bytes,
                json: bytes,
                json_ignoring_empty: bytes,
            };
        };
        let canonical = |json: &Json| hash(b"json", &[json.to_canonical().as_bytes()]);
        RevisionIdentity {
            bytes,
            json: canonical(&json),
            json_ignoring_empty: canonical(&json.without_empty()),
        }
    }
}

impl RevisionIdentity {
    /// Whether the two are equal under `equality`. Data that is no JSON is always compared byte by byte.
    #[must_use]
    pub fn equals(&self, other: &Self, equality: Equality) -> bool {
        match equality {
            Equality::Json => self.json == other.json,
            Equality::Bytes => self.bytes == other.bytes,
            Equality::JsonIgnoringEmpty => self.json_ignoring_empty == other.json_ignoring_empty,
        }
    }
}

/// The hash of `parts` after their `domain`, so that bytes and JSON of the same text have different hashes.
fn hash(domain: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(domain);
    hasher.update([0]);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> RevisionData {
        RevisionData::new(MediaType::JSON, Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }

    fn equal(one: &str, other: &str) -> [bool; 3] {
        let (one, other) = (json(one).identity(), json(other).identity());
        [Equality::Bytes, Equality::Json, Equality::JsonIgnoringEmpty]
            .map(|equality| one.equals(&other, equality))
    }

    #[test]
    fn snapshots_are_compared_by_what_they_say_and_not_by_how_it_is_written() {
        const NEVER: [bool; 3] = [false, false, false];
        const AS_JSON: [bool; 3] = [false, true, true];
        const WITHOUT_EMPTY: [bool; 3] = [false, false, true];
        for (one, other, expected) in [
            (r#"{"a":1}"#, r#"{"a":1}"#, [true, true, true]),
            (r#"{"a":1,"b":2}"#, r#"{ "b": 2, "a": 1 }"#, AS_JSON),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, AS_JSON),
            (r#"{"a":100}"#, r#"{"a":1e2}"#, AS_JSON),
            (r#"{"a":-0.0}"#, r#"{"a":0}"#, AS_JSON),
            (r#"{"a":"\u0061"}"#, r#"{"a":"a"}"#, AS_JSON),
            (
                r#"{"a":9007199254740993}"#,
                r#"{"a":9007199254740992}"#,
                NEVER,
            ),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, NEVER),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, NEVER),
            (
                r#"{"a":{"b":[],"c":{"d":null}},"e":1}"#,
                r#"{"e":1}"#,
                WITHOUT_EMPTY,
            ),
            (r#"{"a":null}"#, "{}", WITHOUT_EMPTY),
            (r#"{"a":[{}]}"#, r#"{"a":[]}"#, NEVER),
            (r#"{"a":0}"#, "{}", NEVER),
            (r#"{"a":""}"#, "{}", NEVER),
        ] {
            assert_eq!(equal(one, other), expected, "{one} and {other}");
            assert_eq!(equal(other, one), expected, "{other} and {one}");
        }
    }

    #[test]
    fn data_that_is_no_json_is_compared_byte_by_byte_in_any_way() {
        let data = |media_type: &str, text: &'static str| {
            let media_type = MediaType::parse(media_type).unwrap();
            let data = RevisionData::new(media_type, Bytes::from_static(text.as_bytes()));
            data.unwrap().identity()
        };
        let plain = data("application/octet-stream", r#"{"a":1}"#);
        for equality in [Equality::Json, Equality::Bytes, Equality::JsonIgnoringEmpty] {
            let same = data("application/octet-stream", r#"{"a":1}"#);
            assert!(plain.equals(&same, equality));
            for other in [
                data("application/octet-stream", r#"{"a":1.0}"#),
                data("application/yaml", r#"{"a":1}"#),
                json(r#"{"a":1}"#).identity(),
            ] {
                assert!(!plain.equals(&other, equality));
            }
        }
    }

    #[test]
    fn data_must_be_there_and_be_what_it_promises() {
        let refused = |media_type: &str, text: &'static str| {
            let media_type = MediaType::parse(media_type).unwrap();
            let data = RevisionData::new(media_type, Bytes::from_static(text.as_bytes()));
            data.unwrap_err().to_string()
        };
        assert_eq!(
            refused("application/json", ""),
            "Required value: data is mandatory"
        );
        assert_eq!(
            refused("application/octet-stream", ""),
            "Required value: data is mandatory"
        );
        let of_length = |length: usize| {
            let media_type = MediaType::parse("application/octet-stream").unwrap();
            RevisionData::new(media_type, Bytes::from(vec![0; length]))
        };
        assert!(of_length(OBJECT_BYTES_MAX - 1).is_ok() && of_length(OBJECT_BYTES_MAX).is_ok());
        assert!(of_length(OBJECT_BYTES_MAX + 1).is_err());
        for bad in ["[]", "{", "{\"a\":1,\"a\":1}", "null"] {
            let fault = refused("application/json", bad);
            assert!(
                fault.contains("data must be a valid JSON object"),
                "{fault}"
            );
        }
    }
}
