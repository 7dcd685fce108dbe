//! The way of a backup's bytes to their target: as they are, or through a command.

use std::io::{self, Write as _};
use std::time::Duration;

use super::file::Target;
use super::through::Filter;
use crate::failure::Failure;
use crate::output;

/// A target, and the command before it.
pub(super) struct Sink {
    target: Target,
    filter: Option<Filter>,
}

impl Sink {
    /// Starts the command of `--through`, if there is one.
    pub(super) fn open(
        target: Target,
        through: Option<&str>,
        silence_max: Duration,
    ) -> Result<Self, Failure> {
        let filter = match (through, &target) {
            (Some(command), Target::File(file)) => {
                Some(Filter::start(command, file.output()?, silence_max)?)
            }
            _ => None,
        };
        Ok(Self { target, filter })
    }

    /// Writes bytes of the backup.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.filter {
            Some(filter) => filter.write(bytes).await,
            None => self
                .target
                .write_all(bytes)
                .map_err(|error| unwritten(&error)),
        }
    }

    /// Waits until the target has all bytes. What the command wrote to standard error is printed.
    pub(super) async fn finish(self) -> Result<Target, Failure> {
        if let Some(filter) = self.filter {
            let errors = filter.finish().await?;
            if !errors.is_empty() {
                output::warn(&errors);
            }
        }
        Ok(self.target)
    }
}

/// The failure to write to a file or to standard output.
pub(super) fn unwritten(error: &io::Error) -> Failure {
    let message = match error.kind() {
        io::ErrorKind::BrokenPipe => {
            "the reader of standard output has gone before the backup was whole".to_owned()
        }
        _ => format!("the backup cannot be written: {error}"),
    };
    Failure::local(message, "check where it goes to, and the room there")
}
