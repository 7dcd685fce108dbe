//! An API server that has joined.

use std::fmt;

use crate::{BinaryVersion, Endpoint, Epoch, InstanceId, Labels, MemberId, Metadata, Ttl};

/// A participating API server, as everyone may see it.
///
/// Its deadline is not part of it: renewals change nothing here, so the same resource version is
/// always the same member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The server's id, the same over its restarts.
    pub id: MemberId,
    /// The process that speaks for it.
    pub instance: InstanceId,
    /// The revision of the join that this instance speaks under: its fencing token.
    pub epoch: Epoch,
    /// How long it lives without a renewal.
    pub ttl: Ttl,
    /// What it says of itself, to be selected by.
    pub labels: Labels,
    /// The release that it runs.
    pub version: BinaryVersion,
    /// Where it says it can be reached.
    pub endpoint: Endpoint,
    /// How far it has come.
    pub phase: Phase,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// Whether this epoch has reported. Until it has, the entries under its id are those of the
    /// epoch before.
    pub reported: bool,
}

/// How far a member has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// It has joined, and does not serve yet.
    Joining,
    /// It says that it serves.
    Ready,
}

impl Phase {
    /// The word for it in tables and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Ready => "ready",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
