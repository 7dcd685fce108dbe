//! Writes the last message of a process, and limits how long its end waits for a reader.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::output;

/// The longest that the end of a process waits until its last message is read.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes to standard error. A reader that does not read cannot keep the process from ending.
pub(crate) fn last_words(text: String) {
    patiently(move || output::warn(&text));
}

/// Runs `act` in a thread of its own, and waits for it no longer than [`PATIENCE`].
pub(super) fn patiently(act: impl FnOnce() + Send + 'static) {
    let (did, heard) = mpsc::sync_channel(1);
    thread::spawn(move || {
        act();
        // An error means that the wait is over.
        let _ = did.send(());
    });
    let _ = heard.recv_timeout(PATIENCE);
}
