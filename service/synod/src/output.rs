//! The document that a command prints, in any of its forms.

mod age;
mod format;
mod table;

use serde_json::Value;
use synod_model::misleads;

pub(crate) use age::age;
pub(crate) use format::Format;
pub(crate) use synod_terminal::escape::printable;
pub(crate) use synod_terminal::output::{Reader, print, warn};
pub(crate) use table::Table;

/// The answer of a command, from which each form is rendered.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The whole answer in the JSON form of the protocol: keys in lowerCamelCase, 64-bit numbers as strings.
    pub(crate) value: Value,
    /// The tables for people, one below the other.
    pub(crate) tables: Vec<Table>,
    /// The same tables with more columns.
    pub(crate) wide: Vec<Table>,
    /// The names of the objects.
    pub(crate) names: Vec<String>,
}

/// What a list shows of one item.
pub(crate) struct Listed {
    /// The name of the item.
    pub(crate) name: String,
    pub(crate) cells: Vec<String>,
    /// The cells that only the wide form has.
    pub(crate) more: Vec<String>,
}

impl Document {
    /// A list: one row for each item. The wide form has the columns `more` too.
    pub(crate) fn list(
        value: Value,
        (columns, more): (&[&str], &[&str]),
        items: impl IntoIterator<Item = Listed>,
    ) -> Self {
        let mut table = Table::new(columns);
        let mut wide = Table::new(columns.iter().chain(more));
        let mut names = Vec::new();
        for item in items {
            table.row(&item.cells);
            wide.row(item.cells.iter().chain(&item.more));
            names.push(item.name);
        }
        Self {
            value,
            tables: vec![table],
            wide: vec![wide],
            names,
        }
    }

    /// The text in the given form, with a line break at its end.
    pub(crate) fn render(&self, format: Format) -> String {
        match format {
            Format::Table => render_all(&self.tables),
            Format::Wide => render_all(&self.wide),
            Format::Json => format!("{:#}\n", self.value),
            Format::Yaml => yaml(&self.value),
            Format::Name => {
                let names = self.names.iter();
                names.map(|name| printable(name) + "\n").collect()
            }
        }
    }
}

/// The tables, with an empty line between two.
fn render_all(tables: &[Table]) -> String {
    let texts: Vec<String> = tables.iter().map(Table::render).collect();
    texts.join("\n")
}

/// The text of a cell without a value.
pub(crate) const UNSET: &str = "<unset>";

/// The value as YAML. Plain YAML has no escapes: a value that needs one is printed in YAML's flow form, which is JSON.
fn yaml(value: &Value) -> String {
    let text = synod_yaml::to_string(value);
    let misled = |letter: char| misleads(letter) && letter != '\n';
    if text.chars().any(misled) {
        format!("{value:#}\n")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use synod_terminal::escape::harmless;

    use super::*;

    const MISLEADING: &str =
        "\u{1b}[2J\r\t\u{7f}\u{85}\u{9b}\u{61c}\u{200f}\u{2028}\u{2029}\u{202e}\u{2066}\n";

    #[test]
    fn no_form_of_a_document_does_anything_to_a_terminal_and_programs_read_it_back() {
        let value = json!({"text": MISLEADING, MISLEADING: [1, "plain"]});
        let mut table = Table::new(["Name"]);
        table.row([MISLEADING]);
        let document = Document {
            value: value.clone(),
            tables: vec![table.clone()],
            wide: vec![table],
            names: vec![MISLEADING.to_owned()],
        };
        for format in [
            Format::Table,
            Format::Wide,
            Format::Json,
            Format::Yaml,
            Format::Name,
        ] {
            let printed = harmless(&document.render(format));
            let raw = printed
                .chars()
                .find(|letter| misleads(*letter) && *letter != '\n');
            assert_eq!(raw, None, "{format:?}: {printed}");
        }
        let read = |format| harmless(&document.render(format));
        let back: Value = serde_json::from_str(&read(Format::Json)).unwrap();
        assert_eq!(back, value);
        let back: Value = synod_yaml::from_str(&read(Format::Yaml)).unwrap();
        assert_eq!(back, value);
        assert_eq!(read(Format::Name).lines().count(), 1);
    }
}
