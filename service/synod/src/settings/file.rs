//! The settings file, in TOML.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Spanned, Value};

use crate::failure::Failure;

/// The keys of a file with their values; without a file there are none.
#[derive(Debug, Default)]
pub(super) struct File {
    name: String,
    text: String,
    values: BTreeMap<String, Spanned<Value>>,
}

impl File {
    /// # Errors
    ///
    /// The file cannot be read, or is no TOML: the text names the file, the line, and what is wrong there.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("the settings file {name} cannot be read: {error}");
            Failure::local(message, "check the path and who may read it").in_usage()
        })?;
        Self::parse(name, text)
    }

    /// # Errors
    ///
    /// The text is no TOML.
    pub(super) fn parse(name: String, text: String) -> Result<Self, Failure> {
        match toml::from_str(&text) {
            Ok(values) => Ok(Self { name, text, values }),
            Err(error) => {
                let place = place(&name, &text, error.span().map_or(0, |span| span.start));
                let message = format!("{place}: this is no TOML: {}", error.message().trim());
                let advice = "correct the file; `synod serve --help` shows one";
                Err(Failure::local(message, advice).in_usage())
            }
        }
    }

    /// The place of a setting, and its value as it would be typed; or what is wrong with the value.
    pub(super) fn get(&self, key: &str) -> Option<(String, Result<String, String>)> {
        let value = self.values.get(key)?;
        Some((self.place(value), text_of(value.get_ref())))
    }

    /// The keys that are not among `known`, with their places.
    pub(super) fn unknown(&self, known: &[&str]) -> Vec<(String, &str)> {
        let unknown = self
            .values
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()));
        unknown
            .map(|(key, value)| (self.place(value), key.as_str()))
            .collect()
    }

    fn place(&self, value: &Spanned<Value>) -> String {
        place(&self.name, &self.text, value.span().start)
    }
}

fn place(name: &str, text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    format!("{name}:{}", before.matches('\n').count() + 1)
}

/// A value as it would be typed: the items of a list are separated by commas.
fn text_of(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Boolean(flag) => Ok(flag.to_string()),
        Value::Array(items) => {
            let items = items.iter().map(|item| match item {
                Value::String(text) => Ok(text.clone()),
                _ => Err(
                    "Invalid value: a list holds texts in quotation marks, nothing else".to_owned(),
                ),
            });
            Ok(items.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        Value::Float(_) | Value::Datetime(_) | Value::Table(_) => {
            let found = value.type_str();
            Err(format!(
                "Invalid value: a {found}: give a text, a whole number, true, false, or a list of texts"
            ))
        }
    }
}
