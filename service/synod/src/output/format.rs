//! The output formats of `-o`.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people.
    Table,
    /// More columns for people.
    Wide,
    /// One JSON document; 64-bit numbers are strings.
    Json,
    /// The same as YAML.
    Yaml,
    /// Only the names, one a line.
    Name,
}
