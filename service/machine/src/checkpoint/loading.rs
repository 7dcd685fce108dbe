//! Makes a state of rows, one after the other, which may be hashed in other threads.

use super::CorruptState;
use crate::digest::RowHash;
use crate::{Digest, Row, State};

/// A row with its hash in the digest, which can be computed in another thread than the one that loads it.
#[derive(Debug)]
pub struct HashedRow {
    pub(super) row: Row,
    /// `None` for the header, which is not part of the digest.
    pub(super) hash: Option<RowHash>,
}

/// A state that is being made of rows, one after the other.
#[derive(Debug)]
pub struct Loading {
    state: State,
    /// What the header says of the state with all rows.
    digest: Digest,
}

impl HashedRow {
    /// The row with its hash.
    #[must_use]
    pub fn of(row: Row) -> Self {
        let hash = row.hash();
        Self { row, hash }
    }
}

impl Loading {
    /// Begins with the header.
    ///
    /// # Errors
    ///
    /// [`CorruptState`] if it is none, or needs a machine version that this build does not know.
    pub fn begin(header: HashedRow) -> Result<Self, CorruptState> {
        header.row.check_machine_version()?;
        let Row::Header {
            cluster,
            machine_version,
            revision,
            log_time,
            lifted_at,
            history_floor,
            strangers_write_until,
            digest,
            upgrade_floor,
        } = header.row
        else {
            return Err(no_header());
        };
        let mut state = State::new();
        state.cluster = cluster;
        state.machine_version = machine_version;
        state.revision = revision;
        state.log_time = log_time;
        state.strangers_write_until = strangers_write_until;
        state.deadlines.lifted_at = lifted_at;
        let upgrade_floor = upgrade_floor.unwrap_or(history_floor);
        if upgrade_floor > history_floor {
            return Err(CorruptState(format!(
                "its upgrade history begins after revision {upgrade_floor}, and its whole history before it"
            )));
        }
        state.history.set_floors(history_floor, upgrade_floor);
        Ok(Self { state, digest })
    }

    /// Adds the next row.
    ///
    /// # Errors
    ///
    /// [`CorruptState`] if it contradicts those before.
    pub fn load(&mut self, row: HashedRow) -> Result<(), CorruptState> {
        self.state.load(row)
    }

    /// The state, when it has all rows.
    ///
    /// # Errors
    ///
    /// [`CorruptState`] if the rows contradict each other, or give another digest than the header says.
    pub fn end(self) -> Result<State, CorruptState> {
        let Self { state, digest } = self;
        state.check_loaded(digest)?;
        Ok(state)
    }
}

pub(super) fn no_header() -> CorruptState {
    CorruptState("the first row is no header".to_owned())
}
