//! Replicas and positions in their log, as the rest of the server sees them.

use std::fmt;

pub use synod_machine::{DirectoryId, ReplicaId};

/// Where a replica is, and which data directory it must have.
///
/// The replicated membership holds one for each replica. It binds the id to one directory: a replica that lost its
/// directory has forgotten its votes, and if it came back under its id it could elect a leader that lacks
/// acknowledged writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaAddress {
    /// Where the other replicas reach it, as `host:port`.
    pub peer: String,
    /// The identity of its data directory.
    pub directory: DirectoryId,
}

/// The number of an election. A leader leads in exactly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u64);

impl Term {
    /// The term with this number.
    #[must_use]
    pub const fn new(term: u64) -> Self {
        Self(term)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Term {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A position in the log, together with who wrote there. Two logs that hold one position agree on all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The term of the leader that wrote the entry.
    pub term: Term,
    /// The leader that wrote the entry.
    pub leader: ReplicaId,
    /// The index; the first entry of a log is at 0.
    pub index: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} (term {}, leader {})",
            self.index, self.term, self.leader
        )
    }
}
