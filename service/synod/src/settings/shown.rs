//! A settings file as it may be shown.

use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::file::{CONTEXTS, File};
use super::{KEYS, masked};
use crate::failure::Failure;

/// What stands in the place of what may be a secret.
const HIDDEN: &str = "***";

/// The text of a settings file without what may be a secret: passwords in addresses, keys and tokens where their paths belong,
/// and whatever stands under a name that no setting has. Comments stay as they are.
///
/// # Errors
///
/// The text is no TOML, or its contexts are no tables.
pub(crate) fn shown(name: &str, text: &str) -> Result<String, Failure> {
    // What is wrong is said as when the file is read.
    File::parse(name.to_owned(), text.to_owned())?;
    let mut document: DocumentMut = text.parse().map_err(|_| {
        let message = format!("{name} is written in a form that cannot be shown");
        Failure::local(message, "look at the file itself").in_usage()
    })?;
    for (key, item) in document.as_table_mut().iter_mut() {
        match item.as_table_like_mut() {
            Some(contexts) if key.get() == CONTEXTS => {
                for (_, context) in contexts.iter_mut() {
                    hide_in_item(true, context);
                }
            }
            _ => hide_in_item(KEYS.contains(&key.get()), item),
        }
    }
    Ok(document.to_string())
}

fn hide_in_item(is_known: bool, item: &mut Item) {
    match item {
        Item::Value(value) => hide_in_value(is_known, value),
        Item::Table(table) => hide_in_table(table),
        Item::ArrayOfTables(tables) => {
            for table in tables.iter_mut() {
                hide_in_table(table);
            }
        }
        Item::None => {}
    }
}

fn hide_in_table(table: &mut dyn TableLike) {
    for (key, item) in table.iter_mut() {
        hide_in_item(KEYS.contains(&key.get()), item);
    }
}

fn hide_in_value(is_known: bool, value: &mut Value) {
    match value {
        Value::Array(items) => {
            for item in items.iter_mut() {
                hide_in_value(is_known, item);
            }
        }
        Value::InlineTable(table) => hide_in_table(table),
        Value::String(text) if is_known => {
            let safe = safe(text.value());
            if safe != *text.value() {
                exchange(value, safe);
            }
        }
        _ if is_known => {}
        _ => exchange(value, HIDDEN.to_owned()),
    }
}

/// Exchanges a value, between the comments that it has.
fn exchange(value: &mut Value, text: String) {
    let decor = value.decor().clone();
    *value = text.into();
    *value.decor_mut() = decor;
}

/// A text without what may be a secret.
fn safe(text: &str) -> String {
    let is_key = text.contains("-----BEGIN") || text.contains('\n');
    // What every token begins with that is a JSON object in base64.
    let is_token = text.starts_with("eyJ");
    if is_key || is_token {
        return HIDDEN.to_owned();
    }
    masked(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_hidden_wherever_it_stands_and_all_else_stays() {
        let file = "\
# Mine.
current_context = \"prod\" # for now
timeout = \"3s\"
password = \"hunter2\"

[contexts.prod]
endpoints = [\"a:1\", \"https://me:hunter2@b:1\"] # two
cert = \"/prod/admin.pem\"
key = \"\"\"-----BEGIN PRIVATE KEY-----
hunter2
\"\"\"
pin = 4711

[contexts.test]
endpoints = \"me:hunter2@c:1\"
token_file = \"eyJhbGciOiJub25lIn0.hunter2.\"

[other]
secret = [\"hunter2\", {of = \"hunter2\"}]
";
        let found = shown("f", file).unwrap();
        assert!(
            !found.contains("hunter2") && !found.contains("4711"),
            "{found}"
        );
        let expected = "\
# Mine.
current_context = \"prod\" # for now
timeout = \"3s\"
password = \"***\"

[contexts.prod]
endpoints = [\"a:1\", \"***@b:1\"] # two
cert = \"/prod/admin.pem\"
key = \"***\"
pin = \"***\"

[contexts.test]
endpoints = \"***@c:1\"
token_file = \"***\"

[other]
secret = [\"***\", {of = \"***\"}]
";
        assert_eq!(found, expected);
        assert!(shown("f", "contexts = 1").is_err());
    }
}
