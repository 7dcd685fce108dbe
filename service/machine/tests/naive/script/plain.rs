//! Entries of given commands.

use std::sync::Arc;

use synod_machine::{AnnounceReplica, Command, DirectoryId, Envelope, LogEntry, ReplicaId};
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

/// A replica says what it knows.
pub(super) fn announce(replica: u64, machine_version: u32) -> Command {
    Command::AnnounceReplica(AnnounceReplica {
        replica: ReplicaId::new(replica),
        directory: DirectoryId::from_bytes([9; 16]),
        client_endpoint: format!("replica-{replica}:2379"),
        binary: "0.1.0".to_owned(),
        machine_version,
        disk_is_low: false,
    })
}
