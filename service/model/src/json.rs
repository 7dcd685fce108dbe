//! JSON values with exact numbers: which documents are legal, and how two are compared.
//!
//! Two replicas must judge every document alike, and for ever, so no floating-point numbers are used: a number keeps
//! the text it was written with and compares by its decimal value. `9007199254740993` is not `9007199254740992`, while
//! `1`, `1.0` and `10e-1` are one number, and so are `0` and `-0.0`. A document with a key twice in one object is
//! refused, since readers differ on what it means.

mod diff;
mod number;
mod parse;
mod write;

use std::collections::BTreeMap;

pub use number::JsonNumber;

use crate::Violation;

/// A JSON value. Equality is by value: the order of keys and the form of numbers do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An exact number.
    Number(JsonNumber),
    /// A text.
    String(String),
    /// A list, in order.
    Array(Vec<Self>),
    /// Members by key, each once.
    Object(BTreeMap<String, Self>),
}

impl Json {
    /// Parses a text that is exactly one value.
    ///
    /// # Errors
    ///
    /// Not UTF-8, not JSON, more than one value, nested deeper than [`JSON_DEPTH_MAX`](crate::limits::JSON_DEPTH_MAX),
    /// an object with a key twice, half of a surrogate pair, or a number beyond
    /// [`JSON_EXPONENT_MAX`](crate::limits::JSON_EXPONENT_MAX) or
    /// [`JSON_NUMBER_BYTES_MAX`](crate::limits::JSON_NUMBER_BYTES_MAX). The rule names the byte of the fault.
    pub fn parse(text: &[u8]) -> Result<Self, Violation> {
        parse::parse(text)
    }

    /// Parses a text that is exactly one object.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and any other value than an object.
    pub fn parse_object(text: &[u8]) -> Result<Self, Violation> {
        let value = Self::parse(text)?;
        if let Self::Object(_) = value {
            return Ok(value);
        }
        let rule = format_args!("must be a valid JSON object, and it is {}", value.what());
        Err(Violation::invalid(&value.to_text(), rule))
    }

    /// Its text without blanks, keys in the order of their bytes, numbers as they were written.
    pub fn to_text(&self) -> String {
        write::text(self)
    }

    /// The canonical text, which all equal values share: as [`to_text`](Self::to_text), with one form for each number.
    pub fn to_canonical(&self) -> String {
        write::canonical(self)
    }

    /// The indented text over several lines, for people; `None` if it is longer than `bytes_max` without its final line
    /// break.
    pub fn to_pretty(&self, bytes_max: usize) -> Option<String> {
        write::pretty(self, bytes_max)
    }

    /// The JSON patch (RFC 6902) that turns this value into `to`, as text; `None` if it is longer than `bytes_max`.
    pub fn patch_to(&self, to: &Self, bytes_max: usize) -> Option<String> {
        diff::patch(self, to, bytes_max)
    }

    /// The same value without empty members: members of an object that are `null`, `{}` or `[]`, or become so by this
    /// rule. Items of a list are never dropped, since that would move the items behind them.
    #[must_use]
    pub fn without_empty(&self) -> Self {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => self.clone(),
            Self::Array(items) => Self::Array(items.iter().map(Self::without_empty).collect()),
            Self::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), value.without_empty()))
                    .filter(|(_, value)| !value.is_empty())
                    .collect(),
            ),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(_) | Self::Number(_) | Self::String(_) => false,
            Self::Array(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

#[cfg(test)]
mod tests;
