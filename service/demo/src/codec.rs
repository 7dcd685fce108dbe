//! The objects of the demo, and the two shapes in which they are encoded.
//!
//! The second shape has every field of the first one in another place and under another name, so a server that knows
//! only the first shape cannot decode the second.

use std::fmt;

use serde_json::{Value, json};

/// An object, independent of any version: what API servers work with between decoding and encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HubObject {
    pub(crate) name: String,
    /// Set at creation and never changed. A server that does not understand what it copies loses it.
    pub(crate) color: String,
    /// The number of changes.
    pub(crate) number: u64,
    /// The client that changed it last.
    pub(crate) author: String,
}

/// Why stored bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undecodable {
    /// They are encoded in a version that the caller does not decode.
    Version(String),
    /// They lack a field of their version, or it has the wrong type.
    Field {
        version: String,
        field: &'static str,
    },
}

impl HubObject {
    /// The colour that an object of this name has from its creation on.
    pub(crate) fn color_of(name: &str) -> &'static str {
        const COLORS: [&str; 5] = ["amber", "blue", "coral", "green", "violet"];
        let sum: usize = name.bytes().map(usize::from).sum();
        COLORS[sum % COLORS.len()]
    }

    /// The object in the shape of a version such as `example.io/v2`.
    pub(crate) fn encode(&self, kind: &str, api_version: &str) -> Value {
        let spec = match Shape::of(api_version) {
            Shape::Flat => json!({
                "color": self.color,
                "number": self.number,
                "author": self.author,
            }),
            Shape::Nested => json!({
                "appearance": {"paint": self.color},
                "history": {"changes": self.number, "lastChangedBy": self.author},
            }),
        };
        json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": self.name},
            "spec": spec,
        })
    }

    /// Decodes an object that is encoded in one of these versions.
    ///
    /// # Errors
    ///
    /// The object is encoded in another version, or lacks a field of its version.
    pub(crate) fn decode<V: AsRef<str>>(
        data: &Value,
        decodable: impl IntoIterator<Item = V>,
    ) -> Result<Self, Undecodable> {
        let version = api_version(data);
        if !decodable.into_iter().any(|known| known.as_ref() == version) {
            return Err(Undecodable::Version(version.to_owned()));
        }
        let places = Shape::of(version).places();
        let field = |field: &'static str| {
            data.pointer(field).ok_or_else(|| Undecodable::Field {
                version: version.to_owned(),
                field,
            })
        };
        let text = |place: &'static str| {
            let value = field(place)?.as_str().map(str::to_owned);
            value.ok_or_else(|| Undecodable::Field {
                version: version.to_owned(),
                field: place,
            })
        };
        let number = field(places.number)?.as_u64();
        Ok(Self {
            name: text("/metadata/name")?,
            color: text(places.color)?,
            number: number.ok_or_else(|| Undecodable::Field {
                version: version.to_owned(),
                field: places.number,
            })?,
            author: text(places.author)?,
        })
    }
}

/// The version that encoded data name; empty if they name none.
pub(crate) fn api_version(data: &Value) -> &str {
    data.get("apiVersion").and_then(Value::as_str).unwrap_or("")
}

/// The paths of the fields in a shape.
struct Places {
    color: &'static str,
    number: &'static str,
    author: &'static str,
}

#[derive(Clone, Copy)]
enum Shape {
    /// The shape of `v1`, and of all versions that are not `v2`.
    Flat,
    /// The shape of `v2`.
    Nested,
}

impl Shape {
    fn of(api_version: &str) -> Self {
        if api_version.ends_with("/v2") {
            Self::Nested
        } else {
            Self::Flat
        }
    }

    fn places(self) -> Places {
        match self {
            Self::Flat => Places {
                color: "/spec/color",
                number: "/spec/number",
                author: "/spec/author",
            },
            Self::Nested => Places {
                color: "/spec/appearance/paint",
                number: "/spec/history/changes",
                author: "/spec/history/lastChangedBy",
            },
        }
    }
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "it is encoded in {version:?}"),
            Self::Field { version, field } => {
                write!(
                    f,
                    "{version} has {field}, which is missing or of another type"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> HubObject {
        HubObject {
            name: "lamp".to_owned(),
            color: "coral".to_owned(),
            number: 7,
            author: "client-1".to_owned(),
        }
    }

    #[test]
    fn an_object_survives_both_shapes() {
        for version in [
            "example.io/v1",
            "example.io/v2",
            "metrics.example.io/v1beta1",
        ] {
            let data = object().encode("Widget", version);
            assert_eq!(api_version(&data), version);
            assert_eq!(HubObject::decode(&data, [version]), Ok(object()));
        }
    }

    #[test]
    fn the_shapes_have_no_field_in_common() {
        let mut data = object().encode("Widget", "example.io/v2");
        data["apiVersion"] = "example.io/v1".into();
        let fault = HubObject::decode(&data, ["example.io/v1"]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "example.io/v1 has /spec/number, which is missing or of another type"
        );
    }

    #[test]
    fn a_version_that_a_release_does_not_know_cannot_be_decoded() {
        let data = object().encode("Widget", "example.io/v2");
        let fault = HubObject::decode(&data, ["example.io/v1"]).unwrap_err();
        assert_eq!(fault, Undecodable::Version("example.io/v2".to_owned()));
    }
}
