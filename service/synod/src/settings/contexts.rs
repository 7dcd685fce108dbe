//! The contexts of a settings file: which there are, and the file with one of them changed.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::ContextValues;
use super::file::{CONTEXTS, File};
use crate::failure::Failure;

/// The contexts of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contexts {
    /// The one that commands use if none is asked for.
    pub(crate) current: Option<String>,
    /// Each by its name, with where it reaches its cluster.
    pub(crate) all: Vec<(String, String)>,
}

impl Contexts {
    /// # Errors
    ///
    /// The text is no TOML, or its contexts are no tables.
    pub(crate) fn of(name: &str, text: &str) -> Result<Self, Failure> {
        let mut file = File::parse(name.to_owned(), text.to_owned())?;
        let current = file.get("current_context");
        let names: Vec<String> = file.contexts().map(str::to_owned).collect();
        let mut all = Vec::new();
        for name in names {
            // It is there, as it was just named.
            let _ = file.select(&name);
            let endpoints = file.get("endpoints").and_then(|(_, text)| text.ok());
            all.push((name, endpoints.unwrap_or_default()));
        }
        Ok(Self {
            current: current.and_then(|(_, text)| text.ok()),
            all,
        })
    }
}

/// The text of a file with `context` made, or changed where `values` say something, and with `current` as the context that
/// commands use. Comments, and what is not named, stay as they are.
///
/// # Errors
///
/// The text is no TOML, or its contexts are no tables.
pub(crate) fn edited(
    name: &str,
    text: &str,
    context: Option<(&str, &ContextValues)>,
    current: Option<&str>,
) -> Result<String, Failure> {
    // What is wrong is said as when the file is read.
    File::parse(name.to_owned(), text.to_owned())?;
    let mut document: DocumentMut = text.parse().map_err(|_| strange(name))?;
    if let Some((context, values)) = context {
        let contexts = document.entry(CONTEXTS).or_insert_with(|| {
            let mut contexts = Table::new();
            // No line of its own: each context has one.
            contexts.set_implicit(true);
            Item::Table(contexts)
        });
        let contexts = contexts.as_table_like_mut().ok_or_else(|| strange(name))?;
        let context = contexts
            .entry(context)
            .or_insert_with(|| Item::Table(Table::new()));
        let context = context.as_table_like_mut().ok_or_else(|| strange(name))?;
        for (key, text) in &values.given {
            let value = match *key {
                "endpoints" => text.split(',').collect::<Array>().into(),
                _ => text.into(),
            };
            put(context, key, value);
        }
    }
    if let Some(current) = current {
        put(document.as_table_mut(), "current_context", current.into());
    }
    Ok(document.to_string())
}

/// The text of a file without this context. If it is the one that commands use, none is afterwards.
///
/// # Errors
///
/// The text is no TOML, or its contexts are no tables.
pub(crate) fn without(name: &str, text: &str, context: &str) -> Result<String, Failure> {
    let is_current = Contexts::of(name, text)?.current.as_deref() == Some(context);
    let mut document: DocumentMut = text.parse().map_err(|_| strange(name))?;
    let contexts = document.get_mut(CONTEXTS).and_then(Item::as_table_like_mut);
    contexts.ok_or_else(|| strange(name))?.remove(context);
    if is_current {
        document.remove("current_context");
    }
    Ok(document.to_string())
}

fn strange(name: &str) -> Failure {
    let message = format!("the contexts of {name} are written in a form that cannot be changed");
    Failure::local(message, "write each as a table, as in [contexts.prod]").in_usage()
}

/// Puts a value into a table. One that is there is exchanged, between the comments that it has.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(present) => {
            *value.decor_mut() = present.decor().clone();
            *present = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# Mine.
current_context = \"prod\" # for now

[contexts.prod]
endpoints = [\"a:1\", \"b:1\"] # two
cacert = \"/prod/ca.pem\"

[contexts.test]
endpoints = \"c:1\"
";

    fn values(given: &[(&'static str, &str)]) -> ContextValues {
        let given = given.iter().map(|(key, text)| (*key, (*text).to_owned()));
        ContextValues {
            given: given.collect(),
        }
    }

    #[test]
    fn contexts_are_listed_with_the_current_one() {
        let listed = Contexts::of("f", FILE).unwrap();
        assert_eq!(listed.current.as_deref(), Some("prod"));
        let expected = [("prod", "a:1,b:1"), ("test", "c:1")];
        assert_eq!(
            listed.all,
            expected.map(|(name, at)| (name.to_owned(), at.to_owned()))
        );
        assert_eq!(Contexts::of("f", "").unwrap(), Contexts::default());
    }

    #[test]
    fn what_is_changed_leaves_the_rest_and_its_comments() {
        let changed = values(&[("endpoints", "d:1,e:1"), ("timeout", "3s")]);
        let text = edited("f", FILE, Some(("prod", &changed)), Some("test")).unwrap();
        let expected = FILE
            .replace("= \"prod\"", "= \"test\"")
            .replace("[\"a:1\", \"b:1\"]", "[\"d:1\", \"e:1\"]")
            .replace("ca.pem\"\n", "ca.pem\"\ntimeout = \"3s\"\n");
        assert_eq!(text, expected);
    }

    #[test]
    fn the_first_context_begins_the_file() {
        let first = values(&[("endpoints", "a:1")]);
        let text = edited("f", "", Some(("prod", &first)), Some("prod")).unwrap();
        assert_eq!(
            text,
            "current_context = \"prod\"\n\n[contexts.prod]\nendpoints = [\"a:1\"]\n"
        );
        // It can be read again.
        assert_eq!(Contexts::of("f", &text).unwrap().all.len(), 1);
    }

    #[test]
    fn a_file_that_is_no_toml_is_not_touched() {
        let failure = edited("f", "contexts = 1", None, Some("prod")).unwrap_err();
        assert!(
            failure.to_string().contains("f:1: contexts are tables"),
            "{failure}"
        );
        assert!(edited("f", "a = = b", None, Some("prod")).is_err());
    }
}
