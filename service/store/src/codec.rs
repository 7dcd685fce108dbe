//! What the replicated state looks like on disk: log entries and checkpoint rows as `synod.storage.v1` messages.
//!
//! Encoding is total. Decoding checks every value by the rules of `synod-model`, since bytes with a good checksum may
//! still come from a newer build: a field, command or row that this build does not know is an error, and the replica
//! that meets one stops. Rules of `synod-model` may be loosened from one release to the next, never tightened: what an
//! old release stored must stay legal.

mod commands;
mod controller_revisions;
mod events;
mod leases;
mod migrations;
mod objects;
mod outcomes;
mod rosters;
mod rows;
mod storage_states;
mod storage_versions;
mod values;

use std::fmt;

use bytes::Bytes;
use prost::Message;
use synod_machine::{Envelope, LogEntry, Row};
use synod_proto::storage::v1 as pb;

/// Bytes that are no stored value of this format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    field: String,
    fault: String,
}

impl CodecError {
    fn new(field: impl Into<String>, fault: impl fmt::Display) -> Self {
        Self {
            field: field.into(),
            fault: fault.to_string(),
        }
    }

    /// The same fault, seen from the message that holds the field.
    fn within(self, message: &str) -> Self {
        Self {
            field: format!("{message}.{}", self.field),
            fault: self.fault,
        }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stored field {}: {}", self.field, self.fault)
    }
}

impl std::error::Error for CodecError {}

/// The bytes of a log entry.
#[must_use]
pub fn encode_log_entry(entry: &LogEntry) -> Bytes {
    commands::log_entry_to_pb(entry).encode_to_vec().into()
}

/// The log entry with these bytes.
///
/// # Errors
///
/// [`CodecError`] if they are no log entry, or hold a command that this build does not know.
pub fn decode_log_entry(bytes: &[u8]) -> Result<LogEntry, CodecError> {
    commands::log_entry_from_pb(decode::<pb::LogEntry>(bytes)?)
}

/// The bytes of one command with its request id: what a follower forwards.
#[must_use]
pub fn encode_envelope(envelope: &Envelope) -> Bytes {
    commands::envelope_to_pb(envelope).encode_to_vec().into()
}

/// The command with these bytes.
///
/// # Errors
///
/// [`CodecError`] if they are no command, or one that this build does not know.
pub fn decode_envelope(bytes: &[u8]) -> Result<Envelope, CodecError> {
    commands::envelope_from_pb(decode::<pb::Envelope>(bytes)?)
}

/// The bytes of one row of a checkpoint.
#[must_use]
pub fn encode_row(row: &Row) -> Bytes {
    rows::row_to_pb(row).encode_to_vec().into()
}

/// The row with these bytes.
///
/// # Errors
///
/// [`CodecError`] if they are no row, or one that this build does not know.
pub fn decode_row(bytes: &[u8]) -> Result<Row, CodecError> {
    rows::row_from_pb(decode::<pb::Row>(bytes)?)
}

fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, CodecError> {
    M::decode(bytes).map_err(|error| CodecError::new("message", error))
}

#[cfg(test)]
mod tests;
