//! Reads the options of a handle from a JSON document, and reports every fault in it at once.

use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Map, Value};
use synod_client::json::FromJson;
use synod_client::{Violation, Violations};

use crate::Failure;

/// A document with options, each of which is taken once.
pub(crate) struct Options {
    fields: Map<String, Value>,
    found: Violations,
}

impl Options {
    /// The options in a text.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        Self::of(&document(text)?).map_err(Failure::invalid)
    }

    /// The options in a part of a document.
    pub(crate) fn of(value: &Value) -> Result<Self, Violations> {
        match value {
            Value::Object(fields) => Ok(Self {
                fields: fields.clone(),
                found: Violations::new(),
            }),
            _ => Err(rule("must be a JSON object").into()),
        }
    }

    /// Adds a fault.
    pub(crate) fn complain(&mut self, fault: Violation) {
        self.found.push(fault);
    }

    /// An option that can be left out.
    pub(crate) fn take<T, E: Into<Violations>>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Option<T> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => None,
            Some(value) => self.found.parsed(name, read(&value)),
        }
    }

    /// An option that can be left out, and may be null.
    pub(crate) fn given<T, E: Into<Violations>>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Option<T> {
        let value = self.fields.remove(name)?;
        self.found.parsed(name, read(&value))
    }

    /// An option that must be given.
    pub(crate) fn need<T, E: Into<Violations>>(
        &mut self,
        name: &str,
        read: impl FnOnce(&Value) -> Result<T, E>,
    ) -> Option<T> {
        match self.fields.remove(name) {
            None | Some(Value::Null) => {
                self.found
                    .push(Violation::required("must be given").at(name));
                None
            }
            Some(value) => self.found.parsed(name, read(&value)),
        }
    }

    /// Reads the options that were not taken yet as one message.
    pub(crate) fn rest<T: FromJson>(&mut self) -> Option<T> {
        let rest = Value::Object(std::mem::take(&mut self.fields));
        self.found.parsed("", T::from_json(&rest))
    }

    /// Returns `made`, or all faults that were found, with options that were not taken among them.
    pub(crate) fn end<T>(self, made: Option<T>) -> Result<T, Failure> {
        self.finish(made).map_err(Failure::invalid)
    }

    /// As [`end`](Self::end), for a part of a document.
    pub(crate) fn finish<T>(mut self, made: Option<T>) -> Result<T, Violations> {
        for name in self.fields.keys() {
            self.found
                .push(rule("Unknown field: there is no such option").at(name));
        }
        match made {
            Some(made) if self.found.is_empty() => Ok(made),
            Some(_) | None => Err(self.found),
        }
    }
}

/// Parses a text as JSON.
pub(crate) fn document(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|fault| Failure::invalid(Violation::not_json(fault)))
}

/// Parses a text as the JSON form of a message.
pub(crate) fn value<T: FromJson>(text: &str) -> Result<T, Failure> {
    T::from_json(&document(text)?).map_err(Failure::invalid)
}

/// Parses a text as a list of messages.
pub(crate) fn values<T: FromJson>(text: &str) -> Result<Vec<T>, Failure> {
    list(T::from_json)(&document(text)?).map_err(Failure::invalid)
}

/// Reads a message.
pub(crate) fn message<T: FromJson>(value: &Value) -> Result<T, Violations> {
    T::from_json(value)
}

/// Reads a text, which `parse` turns into a value.
pub(crate) fn text<T, E: Into<Violations>>(
    parse: impl Fn(&str) -> Result<T, E>,
) -> impl Fn(&Value) -> Result<T, Violations> {
    move |value| match value {
        Value::String(text) => parse(text).map_err(Into::into),
        _ => Err(rule("must be a text").into()),
    }
}

/// Reads a list.
pub(crate) fn list<T, E: Into<Violations>>(
    read: impl Fn(&Value) -> Result<T, E>,
) -> impl Fn(&Value) -> Result<Vec<T>, Violations> {
    move |value| {
        let Value::Array(items) = value else {
            return Err(rule("must be a list").into());
        };
        let mut found = Violations::new();
        let numbered = items.iter().enumerate();
        let read = numbered
            .filter_map(|(i, item)| found.parsed(format_args!("[{i}]"), read(item)))
            .collect();
        if found.is_empty() {
            Ok(read)
        } else {
            Err(found)
        }
    }
}

/// Reads a map of texts.
pub(crate) fn texts(
    value: &Value,
) -> Result<std::collections::BTreeMap<String, String>, Violations> {
    let Value::Object(fields) = value else {
        return Err(rule("must be an object").into());
    };
    let mut found = Violations::new();
    let texts = fields
        .iter()
        .filter_map(|(key, value)| {
            let read = text(|text| Ok::<_, Violation>(text.to_owned()))(value);
            Some((key.clone(), found.parsed(key, read)?))
        })
        .collect();
    if found.is_empty() {
        Ok(texts)
    } else {
        Err(found)
    }
}

/// Reads a whole number, or a text of its digits.
pub(crate) fn number(value: &Value) -> Result<u64, Violation> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        number => number.as_u64(),
    };
    number.ok_or_else(|| rule("must be a whole number of 64 bits"))
}

/// Reads a span in milliseconds.
pub(crate) fn millis(value: &Value) -> Result<Duration, Violation> {
    number(value).map(Duration::from_millis)
}

/// Reads bytes in base64.
pub(crate) fn bytes(value: &Value) -> Result<Vec<u8>, Violation> {
    let decoded = value
        .as_str()
        .and_then(|text| BASE64.decode(text.as_bytes()).ok());
    decoded.ok_or_else(|| rule("must be bytes in base64"))
}

/// Reads a flag.
pub(crate) fn flag(value: &Value) -> Result<bool, Violation> {
    value.as_bool().ok_or_else(|| rule("must be true or false"))
}

/// The violation of a rule by a value that has no path yet.
pub(crate) fn rule(rule: &str) -> Violation {
    Violation {
        field: String::new(),
        rule: rule.to_owned(),
    }
}

/// The failure of using a handle that was released or closed.
pub(crate) fn used_up(what: &str) -> Failure {
    Failure::invalid(rule(&format!(
        "{what} is closed and cannot be used any more"
    )))
}
