//! A log entry made of commands that are encoded already.
//!
//! Commands travel from the replica that took them to the log without being encoded again. A protobuf message is its
//! fields one after the other, so an entry is its stamp followed by each command as a length-delimited field.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use synod_model::WallTime;
use synod_proto::storage::v1 as pb;

use super::log_time::Stamp;

/// The number of the field `commands` of `synod.storage.v1.LogEntry`.
const COMMANDS: u32 = 4;

/// The encoded `synod.storage.v1.LogEntry` of these encoded envelopes, in order.
pub(super) fn encode<'a>(
    stamp: Stamp,
    wall: WallTime,
    envelopes: impl Iterator<Item = &'a Bytes> + Clone,
) -> Bytes {
    let head = pb::LogEntry {
        log_time_ms: stamp.log_time.as_millis(),
        lift_deadlines: stamp.lift_deadlines,
        wall_ms: wall.as_millis(),
        commands: Vec::new(),
    };
    let body = envelopes.clone().map(|envelope| {
        key_len(COMMANDS) + encoded_len_varint(envelope.len() as u64) + envelope.len()
    });
    let mut entry = BytesMut::with_capacity(head.encoded_len() + body.sum::<usize>());
    // A buffer of this length takes the head, which is all that can fail here.
    let _ = head.encode(&mut entry);
    for envelope in envelopes {
        encode_key(COMMANDS, WireType::LengthDelimited, &mut entry);
        encode_varint(envelope.len() as u64, &mut entry);
        entry.put_slice(envelope);
    }
    entry.freeze()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use synod_machine::{Command, Envelope, LogEntry};
    use synod_model::{LogTime, OpenSession, RequestId, Revision, Sequence, SessionId};
    use synod_store::codec::{decode_log_entry, encode_envelope, encode_log_entry};

    use super::*;

    #[test]
    fn an_entry_of_encoded_commands_is_the_encoded_entry_of_the_commands() {
        let second = Sequence::new(2).unwrap();
        let id = RequestId::new(SessionId::new(Revision::new(9)), second, Sequence::FIRST).unwrap();
        let command = |request| Envelope {
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
            let encoded: Vec<Bytes> = commands.iter().map(encode_envelope).collect();
            let entry = LogEntry {
                log_time: stamp.log_time,
                lift_deadlines: true,
                wall,
                commands,
            };
            let bytes = encode(stamp, wall, encoded.iter());
            assert_eq!(bytes, encode_log_entry(&entry));
            assert_eq!(decode_log_entry(&bytes), Ok(entry));
        }
    }
}
