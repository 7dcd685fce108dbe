//! What a process says when it ends, and for how long it waits until somebody has read it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::output;

/// So long the end of a process waits for whoever reads what it says.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes to standard error. That nobody reads it keeps no process from ending.
pub(crate) fn last_words(text: String) {
    patiently(move || output::warn(&text));
}

/// Does what may wait for somebody who reads, and goes on without it when that takes too long.
pub(super) fn patiently(act: impl FnOnce() + Send + 'static) {
    let (did, heard) = mpsc::sync_channel(1);
    thread::spawn(move || {
        act();
        // It took too long if nobody waits for it any more.
        let _ = did.send(());
    });
    let _ = heard.recv_timeout(PATIENCE);
}
