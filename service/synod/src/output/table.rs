//! Tables of text in aligned columns.

use super::printable;

/// A heading and rows, all of the same number of cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The heading, as it is printed.
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The gap between two columns.
const GAP: &str = "   ";

impl Table {
    /// A table without rows. The names of its columns are printed in capitals.
    pub(crate) fn new<C: AsRef<str>>(columns: impl IntoIterator<Item = C>) -> Self {
        let heading = columns
            .into_iter()
            .map(|column| column.as_ref().to_uppercase());
        Self {
            heading: heading.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds columns named after objects. Their names are printed as they are.
    #[must_use]
    pub(crate) fn with_objects<C: ToString>(mut self, names: impl IntoIterator<Item = C>) -> Self {
        self.heading
            .extend(names.into_iter().map(|name| printable(&name.to_string())));
        self
    }

    pub(crate) fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let row: Vec<String> = cells
            .into_iter()
            .map(|cell| printable(cell.as_ref()))
            .collect();
        assert_eq!(
            row.len(),
            self.heading.len(),
            "a row has a cell for each column"
        );
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The heading, then the rows. No line ends in spaces.
    pub(crate) fn render(&self) -> String {
        let lines = || std::iter::once(&self.heading).chain(&self.rows);
        let width = |column: usize| lines().map(|line| line[column].chars().count()).max();
        let widths: Vec<usize> = (0..self.heading.len())
            .map(|column| width(column).unwrap_or(0))
            .collect();
        let mut text = String::new();
        for line in lines() {
            let cells = line
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:<width$}"));
            text += cells.collect::<Vec<_>>().join(GAP).trim_end();
            text += "\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["Name", "Age"]);
        table.row(["a", "1s"]);
        table.row(["a-longer-name", "2m"]);
        assert_eq!(
            table.render(),
            "NAME            AGE\na               1s\na-longer-name   2m\n"
        );
    }

    #[test]
    fn the_names_of_objects_keep_their_case() {
        let mut table = Table::new(["Name"]).with_objects(["server-a"]);
        table.row(["x", "v1"]);
        assert_eq!(table.render(), "NAME   server-a\nx      v1\n");
    }

    #[test]
    fn a_cell_cannot_move_the_cursor() {
        let mut table = Table::new(["Name"]);
        table.row(["\u{1b}[2Jgone\n"]);
        assert_eq!(table.render(), "NAME\n\\u001b[2Jgone\\n\n");
    }
}
