//! The media type of data, such as that of an object.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::Violation;
use crate::limits::MEDIA_TYPE_BYTES_MAX;

/// A media type without parameters, in lower case: `application/json`. The common ones take no memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediaType(Form);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Form {
    Common(&'static str),
    Other(Arc<str>),
}

const JSON: &str = "application/json";

const COMMON: [&str; 5] = [
    JSON,
    "application/cbor",
    "application/octet-stream",
    "application/vnd.kubernetes.protobuf",
    "application/yaml",
];

impl MediaType {
    /// `application/json`: what patches work on.
    pub const JSON: Self = Self(Form::Common(JSON));

    /// The media type with this text.
    ///
    /// # Errors
    ///
    /// Not a type and a subtype, each of lower case letters, digits and `!#$&^_.+-`, the first a letter or digit, or
    /// longer than 127 bytes.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if let Some(common) = COMMON.iter().find(|common| **common == text) {
            return Ok(Self(Form::Common(common)));
        }
        let named = |part: &str| {
            let outer = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
            let inner = |c: u8| outer(c) || b"!#$&^_.+-".contains(&c);
            part.bytes().next().is_some_and(outer) && part.bytes().all(inner)
        };
        let legal = text
            .split_once('/')
            .is_some_and(|(kind, subtype)| named(kind) && named(subtype));
        if legal && text.len() <= MEDIA_TYPE_BYTES_MAX {
            return Ok(Self(Form::Other(text.into())));
        }
        let rule = format_args!(
            "must be a media type in lower case without parameters, no more than {MEDIA_TYPE_BYTES_MAX} characters \
             (e.g. '{JSON}')"
        );
        Err(Violation::invalid(text, rule))
    }

    /// The text as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Common(text) => text,
            Form::Other(text) => text,
        }
    }

    /// Whether the data must be JSON: `application/json`, or a media type that ends with `+json`.
    #[must_use]
    pub fn is_json(&self) -> bool {
        *self == Self::JSON || self.as_str().ends_with("+json")
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for MediaType {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_has_one_text() {
        for good in [
            "application/json",
            "application/vnd.kubernetes.protobuf",
            "image/svg+xml",
            "a/b",
            &format!("a/{}", "b".repeat(125)),
        ] {
            assert_eq!(MediaType::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            "json",
            "/json",
            "application/",
            "Application/JSON",
            "application/json; charset=utf-8",
            "a/b/c",
            "a/b\r\nX-Injected: 1",
            "a/\u{e4}",
            &format!("a/{}", "b".repeat(126)),
        ] {
            assert!(MediaType::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn json_is_recognized_by_its_name_and_by_its_suffix() {
        let is_json = |text: &str| MediaType::parse(text).unwrap().is_json();
        assert!(is_json("application/json") && is_json("application/apply-patch+json"));
        assert!(!is_json("application/yaml") && !is_json("application/jsonl"));
    }
}
