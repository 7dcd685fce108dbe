//! What is printed.

use std::io::{self, Write as _};

use crate::escape::harmless;
use crate::failure::Failure;

/// Whether somebody still reads what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// As far as is known.
    There,
    /// It has closed the pipe, as `head` does once it has enough: there is nothing more to do, and nothing is wrong.
    Gone,
}

/// Writes to standard error, at once, harmlessly. Nobody is left to tell if that is closed.
pub fn warn(text: &str) {
    let _ = io::stderr().write_all(harmless(text).as_bytes());
}

/// Writes to standard output, at once, harmlessly.
///
/// # Errors
///
/// It cannot be written to, as when a disk is full.
pub fn print(text: &str) -> Result<Reader, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(harmless(text).as_bytes())
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
