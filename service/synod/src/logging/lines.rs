//! What was logged, for tests.

use std::io;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;

/// The lines that were logged.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// How many of them hold this text.
    pub(super) fn with(&self, text: &str) -> usize {
        let bytes = self.0.lock().unwrap().clone();
        let lines = String::from_utf8(bytes).unwrap();
        lines.lines().filter(|line| line.contains(text)).count()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
