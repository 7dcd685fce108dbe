//! The unit of the log: many commands under one stamp of time.

use std::sync::Arc;

use synod_model::{LogTime, RequestId, WallTime};

use crate::Command;

/// One log entry: commands that are applied in order, each at a revision of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The log time that the leader stamped. Apply takes the greater of this and the state's.
    pub log_time: LogTime,
    /// Set on the first stamped entry of a term and after a pause: every deadline is lifted to at least
    /// `log_time` + its TTL, because nobody could renew while no leader counted.
    pub lift_deadlines: bool,
    /// The leader's wall clock, for display only: no rule depends on it.
    pub wall: WallTime,
    /// What to apply.
    pub commands: Vec<Envelope>,
}

/// A command and, where the caller opened a session, its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The exactly-once key; `None` for callers without a session and for the replicas' own commands.
    pub request: Option<RequestId>,
    /// What to do. Shared, so that an envelope is small and a copy of it cheap.
    pub command: Arc<Command>,
}
