//! Prints to standard output and standard error, with control characters escaped.

use std::io::{self, Write as _};

use crate::escape::harmless;
use crate::failure::Failure;

/// Whether the reader of standard output is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Standard output is open, as far as is known.
    There,
    /// The reader has closed the pipe, as `head` does once it has enough. No more output is needed; this is no error.
    Gone,
}

/// Writes to standard error at once, escaped by [`harmless`]. A failed write has nowhere to be reported.
pub fn warn(text: &str) {
    let _ = io::stderr().write_all(harmless(text).as_bytes());
}

/// Writes to standard output, escaped by [`harmless`], and flushes it.
///
/// # Errors
///
/// Standard output cannot be written to, as when a disk is full.
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
