//! [`Bell`]: wakes a Python event loop when calls have been answered.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

/// A socket that an event loop listens to: it becomes readable when a call was answered. So threads of the runtime wake
/// a loop without entering the interpreter.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Bell {
    shared: Arc<BellPipe>,
}

/// The socket pair that signals answered calls, and their numbers.
pub(crate) struct BellPipe {
    reader: UnixStream,
    writer: UnixStream,
    /// The numbers of the answered calls that the loop has not read yet. A call is signalled once for each wait.
    rung: Mutex<Vec<u64>>,
}

#[pymethods]
impl Bell {
    #[new]
    fn new() -> PyResult<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        let shared = BellPipe {
            reader,
            writer,
            rung: Mutex::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// What to listen to.
    fn fileno(&self) -> i32 {
        self.shared.reader.as_raw_fd()
    }

    /// The numbers of all calls that were answered since the last time.
    fn drain(&self) -> PyResult<Vec<u64>> {
        // The socket first: a call signalled in between is in the numbers, and wakes the loop once for nothing.
        let mut bytes = [0; 64];
        loop {
            match (&self.shared.reader).read(&mut bytes) {
                Ok(read) if read == bytes.len() => {}
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(std::mem::take(&mut *self.shared.numbers()))
    }
}

impl Bell {
    pub(crate) fn shared(&self) -> Arc<BellPipe> {
        Arc::clone(&self.shared)
    }
}

impl BellPipe {
    fn numbers(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ring(&self, number: u64) {
        let first = {
            let mut numbers = self.numbers();
            numbers.push(number);
            numbers.len() == 1
        };
        if first {
            // The socket cannot be full, since one byte is sent for each time that the loop reads the numbers. If the
            // loop is gone, no one needs the signal.
            let _ = (&self.writer).write(&[1]);
        }
    }
}
