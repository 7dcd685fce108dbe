//! A file that is only appended to: one JSON document a line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// A file of JSON documents, one a line.
///
/// Each line is one unbuffered write, so an appended line survives the death of the process.
#[derive(Debug)]
pub(crate) struct Journal {
    file: Mutex<File>,
}

impl Journal {
    /// Opens the file at `path`, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        Ok(Self {
            file: Mutex::new(file),
        })
    }

    /// Appends a line.
    ///
    /// # Errors
    ///
    /// The line cannot be written, as when the disk is full.
    pub(crate) fn append(&self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text)
    }
}
