//! Entries of given commands.

use std::sync::Arc;

use synod_machine::{Command, Envelope, LogEntry};
use synod_model::WallTime;

use super::Script;

impl Script {
    /// An entry of these commands at the present time.
    pub(crate) fn entry_of(&self, commands: impl IntoIterator<Item = Command>) -> LogEntry {
        let commands = commands.into_iter().map(|command| Envelope {
            actor: None,
            request: None,
            command: Arc::new(command),
        });
        LogEntry {
            log_time: self.time,
            lift_deadlines: false,
            wall: WallTime::from_millis(self.wall),
            commands: commands.collect(),
        }
    }
}
