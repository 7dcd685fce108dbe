//! Encodes a log entry from commands that are already encoded.
//!
//! Commands are encoded once, by the replica that received them. This works because a stored list is its length
//! followed by its items, and the commands are the last field of an entry.

use bytes::Bytes;
use synod_machine::LogEntry;
use synod_model::WallTime;
use synod_model::stored::{Stored, put_number, to_bytes};

use super::log_time::Stamp;

/// The number of fields of a stored log entry.
const FIELDS: u64 = 4;

/// The most bytes before the first command.
const HEAD_BYTES_MAX: usize = 40;

/// The stored log entry of these encoded envelopes, in order.
pub(super) fn encode<'a>(
    stamp: Stamp,
    wall: WallTime,
    envelopes: impl Iterator<Item = &'a Bytes> + Clone,
) -> Bytes {
    let count = envelopes.clone().count();
    if count == 0 {
        return to_bytes(&LogEntry {
            log_time: stamp.log_time,
            lift_deadlines: stamp.lift_deadlines,
            wall,
            commands: Vec::new(),
        });
    }
    let length: usize = envelopes.clone().map(Bytes::len).sum();
    let mut entry = Vec::with_capacity(HEAD_BYTES_MAX + length);
    put_number(&mut entry, FIELDS);
    stamp.log_time.store(&mut entry);
    stamp.lift_deadlines.store(&mut entry);
    wall.store(&mut entry);
    put_number(&mut entry, count as u64);
    for envelope in envelopes {
        entry.extend_from_slice(envelope);
    }
    entry.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use synod_machine::{Command, Envelope, LogEntry};
    use synod_model::stored::from_bytes;
    use synod_model::{LogTime, OpenSession, RequestId, Revision, Sequence, SessionId};

    use super::*;

    #[test]
    fn an_entry_of_encoded_commands_is_the_encoded_entry_of_the_commands() {
        let second = Sequence::new(2).unwrap();
        let id = RequestId::new(SessionId::new(Revision::new(9)), second, Sequence::FIRST).unwrap();
        let command = |request| Envelope {
            actor: None,
            request,
            command: Arc::new(Command::OpenSession(OpenSession {})),
        };
        for commands in [
            vec![],
            vec![command(None)],
            vec![command(Some(id)), command(None)],
        ] {
            let stamp = Stamp {
                log_time: LogTime::from_millis(77),
                lift_deadlines: true,
            };
            let wall = WallTime::from_millis(1_700_000_000_000);
            let encoded: Vec<Bytes> = commands.iter().map(to_bytes).collect();
            let entry = LogEntry {
                log_time: stamp.log_time,
                lift_deadlines: true,
                wall,
                commands,
            };
            let bytes = encode(stamp, wall, encoded.iter());
            assert_eq!(bytes, to_bytes(&entry));
            assert_eq!(from_bytes::<LogEntry>(&bytes), Ok(entry));
        }
    }
}
