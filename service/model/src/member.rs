//! Members: API servers that have joined.

use std::fmt;

use crate::{BinaryVersion, Endpoint, Epoch, InstanceId, Labels, MemberId, Metadata, Ttl};

/// A member as readers see it.
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
    /// The labels that it gives itself, for selectors.
    pub labels: Labels,
    /// The release that it runs.
    pub version: BinaryVersion,
    /// The address that it gives for itself.
    pub endpoint: Endpoint,
    /// Whether it serves yet.
    pub phase: Phase,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// Whether this epoch has reported. Until then, the entries under its id are those of the epoch
    /// before.
    pub reported: bool,
    /// Whether it writes through a gate alone, as it says itself. False of a member that joined before machine version 3.
    pub gated: bool,
}

/// Whether a member serves yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// It has joined, and does not serve yet.
    Joining,
    /// It says that it serves.
    Ready,
}

impl Phase {
    /// The phase as text, in tables and JSON.
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
