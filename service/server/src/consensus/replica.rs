//! Terms and positions in the log, as the rest of the server sees them.

use std::fmt;

use synod_model::{stored, stored_numbers};

pub use synod_machine::{DirectoryId, ReplicaId};
pub use synod_store::payload::ReplicaAddress;

/// A Raft term: the number of an election. A replica that leads does so in exactly one term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u64);

impl Term {
    /// The term with this number.
    #[must_use]
    pub const fn new(term: u64) -> Self {
        Self(term)
    }

    /// The number.
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

/// A position in the log, with the term and leader of its entry. Two logs that hold the same position agree up to it.
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

stored_numbers! {
    Term: |it| it.get(), |number| Ok(Self::new(number));
}

stored! {
    Position { term, leader, index }
}
