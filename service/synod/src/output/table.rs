//! Columns of text.

/// Rows under a heading, each as long as the heading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// What stands between two columns.
const GAP: usize = 3;

impl Table {
    pub(crate) fn new<C: Into<String>>(columns: impl IntoIterator<Item = C>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let row: Vec<String> = cells.into_iter().map(|cell| printable(&cell.into())).collect();
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(row);
    }

    /// The heading in capitals, then the rows; no line ends in spaces.
    pub(crate) fn render(&self) -> String {
        let heading: Vec<String> = self.columns.iter().map(|column| column.to_uppercase()).collect();
        let lines = || std::iter::once(&heading).chain(&self.rows);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| lines().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        let line = |cells: &Vec<String>| {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
        };
        lines().map(line).collect()
    }
}

/// The text without anything that could move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(["Name", "Age"]);
        table.row(["a", "1s"]);
        table.row(["a-longer-name", "2m"]);
        assert_eq!(table.render(), "NAME            AGE\na               1s\na-longer-name   2m\n");
    }

    #[test]
    fn a_cell_cannot_move_the_cursor() {
        let mut table = Table::new(["Name"]);
        table.row(["\u{1b}[2Jgone\n"]);
        assert_eq!(table.render(), "NAME\n?[2Jgone?\n");
    }
}
