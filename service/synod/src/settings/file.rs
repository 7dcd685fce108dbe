//! The settings file, in TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Spanned, Value};

use crate::failure::Failure;

/// The table of contexts in a file: for each cluster how to reach it, by a name.
pub(super) const CONTEXTS: &str = "contexts";

/// The keys of a file or of a table in it, with their values.
type Values = BTreeMap<String, Spanned<Value>>;

/// The keys of a file with their values; without a file there are none.
#[derive(Debug, Default)]
pub(super) struct File {
    name: String,
    text: String,
    values: Values,
    contexts: BTreeMap<String, Values>,
    /// The context whose values go before those that the file has for all.
    selected: Option<String>,
}

/// The part of a file that has tables.
#[derive(Default, Deserialize)]
struct Tables {
    #[serde(default)]
    contexts: BTreeMap<String, Values>,
}

/// Where the file of the user is, whether it is there or not: below `XDG_CONFIG_HOME`, else below `~/.config`.
pub(crate) fn own_path() -> Option<PathBuf> {
    let folder = |variable| {
        let path = PathBuf::from(std::env::var_os(variable)?);
        // What is relative is to be ignored, by the standard of these folders.
        path.is_absolute().then_some(path)
    };
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("synod").join("config.toml"))
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
        let fault = |what: &str, error: toml::de::Error| {
            let place = place(&name, &text, error.span().map_or(0, |span| span.start));
            let message = format!("{place}: {what}: {}", error.message().trim());
            let advice = "correct the file; `synod serve --help` shows one";
            Failure::local(message, advice).in_usage()
        };
        let values = toml::from_str(&text);
        let mut values: Values = values.map_err(|error| fault("this is no TOML", error))?;
        let tables = match values.remove(CONTEXTS) {
            Some(_) => toml::from_str(&text)
                .map_err(|error| fault("contexts are tables, as in [contexts.prod]", error))?,
            None => Tables::default(),
        };
        Ok(Self {
            name,
            text,
            values,
            contexts: tables.contexts,
            selected: None,
        })
    }

    /// Reads from a context first from now on.
    ///
    /// # Errors
    ///
    /// There is no such context: the text names those that there are.
    pub(super) fn select(&mut self, context: &str) -> Result<(), String> {
        if self.contexts.contains_key(context) {
            self.selected = Some(context.to_owned());
            return Ok(());
        }
        let there_are = match self.contexts().collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => {
                "there are none; `synod config set-context` makes one".to_owned()
            }
            names => format!("there are: {names}"),
        };
        Err(format!("no context has the name {context:?}; {there_are}"))
    }

    /// The names of the contexts.
    pub(super) fn contexts(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    /// The place of a setting, and its value as it would be typed; or what is wrong with the value.
    pub(super) fn get(&self, key: &str) -> Option<(String, Result<String, String>)> {
        let selected = self.selected.as_ref();
        let value = selected
            .and_then(|context| self.contexts.get(context)?.get(key))
            .or_else(|| self.values.get(key))?;
        Some((self.place(value), text_of(value.get_ref())))
    }

    /// The keys that are not among `known`, with their places.
    pub(super) fn unknown(&self, known: &[&str]) -> Vec<(String, &str)> {
        self.beside(&self.values, known).collect()
    }

    /// The keys in contexts that are not among `known`, with their places.
    pub(super) fn unknown_in_contexts(&self, known: &[&str]) -> Vec<(String, &str)> {
        let contexts = self.contexts.values();
        contexts
            .flat_map(|values| self.beside(values, known))
            .collect()
    }

    fn beside<'a, 'k>(
        &'a self,
        values: &'a Values,
        known: &'k [&'k str],
    ) -> impl Iterator<Item = (String, &'a str)> {
        let unknown = values
            .iter()
            .filter(move |(key, _)| !known.contains(&key.as_str()));
        unknown.map(|(key, value)| (self.place(value), key.as_str()))
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
