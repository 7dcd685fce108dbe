//! The tables of the stored form as text, against which changes of the form are checked.

use std::collections::BTreeMap;
use std::fmt;

use super::Stored;

/// The forms of types by name, each with its rows.
#[derive(Clone, Debug, Default)]
pub struct Tables(BTreeMap<String, Vec<(String, String)>>);

impl Tables {
    /// Adds a type, unless it is there, and answers its name.
    pub fn add(
        &mut self,
        name: &str,
        rows: impl FnOnce(&mut Self) -> Vec<(String, String)>,
    ) -> String {
        if !self.0.contains_key(name) {
            // A recursive type finds its name here.
            self.0.insert(name.to_owned(), Vec::new());
            let rows = rows(self);
            self.0.insert(name.to_owned(), rows);
        }
        name.to_owned()
    }
}

/// The shape of a field.
pub fn shape_of<S, T: Stored>(_: impl Fn(&S) -> &T, tables: &mut Tables) -> String {
    T::shape(tables)
}

impl fmt::Display for Tables {
    /// One type after the other, each with a line for a field or a variant.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, rows) in &self.0 {
            writeln!(f, "{name}")?;
            for (row, shape) in rows {
                writeln!(f, "  {row}: {shape}")?;
            }
        }
        Ok(())
    }
}
