//! What a command prints: one document in any of the forms.

mod age;
mod table;

use std::io::{self, Write as _};

use serde_json::Value;

pub(crate) use age::age;
pub(crate) use table::Table;

use crate::args::Format;
use crate::failure::Failure;

/// The answer of a command, before its form is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// The whole answer in the JSON form of the protocol: keys in lowerCamelCase, 64-bit numbers as texts.
    pub(crate) value: Value,
    /// The columns for people, one table under the other.
    pub(crate) tables: Vec<Table>,
    /// The same with more columns.
    pub(crate) wide: Vec<Table>,
    /// The names of the objects.
    pub(crate) names: Vec<String>,
}

impl Document {
    /// The text in the asked form, with a line break at its end.
    pub(crate) fn render(&self, format: Format) -> String {
        match format {
            Format::Table => render_all(&self.tables),
            Format::Wide => render_all(&self.wide),
            Format::Json => format!("{:#}\n", self.value),
            Format::Yaml => {
                serde_yaml_ng::to_string(&self.value).expect("every JSON value is YAML")
            }
            Format::Name => self.names.iter().map(|name| format!("{name}\n")).collect(),
        }
    }
}

/// The tables with an empty line between two.
fn render_all(tables: &[Table]) -> String {
    let texts: Vec<String> = tables.iter().map(Table::render).collect();
    texts.join("\n")
}

/// What stands where there is no value.
pub(crate) const UNSET: &str = "<unset>";

/// A text of somebody else without anything that could move a terminal's cursor.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { '?' } else { letter })
        .collect()
}

/// Whether somebody still reads what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// As far as is known.
    There,
    /// It has closed the pipe, as `head` does once it has enough: there is nothing more to do, and nothing is wrong.
    Gone,
}

/// Writes to standard error, at once. Nobody is left to tell if that is closed.
pub(crate) fn warn(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes to standard output, at once.
///
/// # Errors
///
/// It cannot be written to, as when a disk is full.
pub(crate) fn print(text: &str) -> Result<Reader, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => {
            let message = format!("standard output cannot be written: {error}");
            Err(Failure::local(message, "check where it goes to"))
        }
    }
}
