//! The unit of the log: many commands with one log time.

use std::sync::Arc;

use synod_model::{Actor, LogTime, RequestId, WallTime};

use crate::Command;

/// One log entry: commands that are applied in order, each at a revision of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The log time that the leader stamped. Apply takes the greater of this and the state's.
    pub log_time: LogTime,
    /// Set on the first stamped entries of a term and after a pause, until one of them is applied: every deadline is lifted to at least `log_time` +
    /// its TTL, because no renewal was possible while there was no leader.
    pub lift_deadlines: bool,
    /// The leader's wall clock, for display: no rule depends on it but one. A date that a member names is worked out in log
    /// time by it, once.
    pub wall: WallTime,
    /// The commands to apply, in order.
    pub commands: Vec<Envelope>,
}

/// A command with its exactly-once key, if the caller opened a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The exactly-once key; `None` for callers without a session and for the replicas' own commands.
    pub request: Option<RequestId>,
    /// The command. It is shared, so that an envelope is small and cheap to copy.
    pub command: Arc<Command>,
    /// Who sends it; `None` for the replicas' own commands, and where callers prove nothing: they may do everything.
    pub actor: Option<Arc<Actor>>,
}
