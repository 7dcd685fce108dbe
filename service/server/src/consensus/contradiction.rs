//! Refuses a leader whose log lacks entries that are committed here.
//!
//! Raft rules such a leader out: whoever is elected holds every committed entry. Only disks that lost what they had
//! acknowledged can elect one, such as directories restored from a copy. openraft takes what a leader says of committed
//! positions for what it has itself, and would continue with a log spliced from two histories. So each append is
//! compared with the log before openraft sees it; one that does not fit ends this replica before anything is changed.

use openraft::raft::AppendEntriesRequest;
use synod_store::Log;

use super::ReplicaId;
use super::facade::ConsensusParts;
use super::fatal::Fatal;
use super::inbound::InboundError;
use super::record::{of_record, of_store_id, to_store_id};
use super::types::{Entry, EntryPayload, LogId, TypeConfig, Vote, position_of, vote_of_store};

impl ConsensusParts {
    /// Checks that a leader's append replaces no entry that is committed here, and agrees with this log wherever both
    /// hold the same position. `prev_checksum` is of the entry right before the appended ones.
    ///
    /// # Errors
    ///
    /// When it does not. The alarm is raised then, and the process ends.
    pub(super) fn ensure_fits(
        &self,
        from: ReplicaId,
        request: &AppendEntriesRequest<TypeConfig>,
        prev_checksum: Option<u32>,
    ) -> Result<(), InboundError> {
        let positions = request.entries.iter().map(|entry| entry.log_id);
        let positions = request.prev_log_id.into_iter().chain(positions);
        self.ensure_agrees(from, &request.vote, positions)?;
        let prev = request.prev_log_id.zip(prev_checksum);
        let other_prev = prev.filter(|(prev, theirs)| {
            let ours = self.entry(prev).and_then(|ours| checksum(&ours.payload));
            ours.is_some_and(|ours| ours != *theirs)
        });
        let other = other_prev.map(|(prev, _)| prev).or_else(|| {
            let last = self.storage.log.last_log_id()?.index;
            let entries = request.entries.iter();
            let mut entries = entries.take_while(|it| it.log_id.index <= last);
            let other = entries.find(|theirs| {
                let ours = self.entry(&theirs.log_id);
                ours.is_some_and(|ours| ours.payload != theirs.payload)
            });
            other.map(|theirs| theirs.log_id)
        });
        match other {
            Some(other) => self.contradicted(
                &request.vote,
                format!(
                    "replica {from} has another entry at {}",
                    position_of(&other)
                ),
            ),
            None => Ok(()),
        }
    }

    /// Checks positions in a leader's log: up to the last committed entry here they must equal this log's positions,
    /// and beyond it they must be able to follow that entry.
    ///
    /// # Errors
    ///
    /// When they do not. The alarm is raised then, and the process ends.
    pub(super) fn ensure_agrees(
        &self,
        from: ReplicaId,
        vote: &Vote,
        mut theirs: impl Iterator<Item = LogId>,
    ) -> Result<(), InboundError> {
        let Some(committed) = self.storage.log.committed() else {
            return Ok(());
        };
        // Terms never decrease along a log, so a later entry has no lower term, and an earlier one no higher term.
        let differs = theirs.find_map(|theirs| {
            let their = to_store_id(&theirs);
            if theirs.index > committed.index {
                return (their < committed).then_some((committed, theirs));
            }
            match self.storage.log.log_id(theirs.index) {
                Some(ours) => (ours != their).then_some((ours, theirs)),
                // The entry at this index is purged here.
                None => (their > committed).then_some((committed, theirs)),
            }
        });
        match differs {
            Some((ours, theirs)) => self.contradicted(
                vote,
                format!(
                    "the entry at {} is committed here, but replica {from} has {}, and no log holds both",
                    position_of(&of_store_id(&ours)),
                    position_of(&theirs)
                ),
            ),
            None => Ok(()),
        }
    }

    /// The entry at a position of this log, if the log holds it.
    fn entry(&self, at: &LogId) -> Option<Entry> {
        if self.storage.log.log_id(at.index) != Some(to_store_id(at)) {
            return None;
        }
        read(&self.storage.log, at.index)
    }

    fn contradicted(&self, vote: &Vote, detail: String) -> Result<(), InboundError> {
        // A deposed leader that has not noticed may lack entries, and openraft refuses it. The log was read before the
        // vote: if the vote has risen since, fewer replicas count as leaders, which is safe.
        if self.storage.vote.read().map(|vote| vote_of_store(&vote)) > Some(*vote) {
            return Ok(());
        }
        self.alarm.raise(Fatal::Contradicted { detail });
        Err(InboundError::Contradicted)
    }
}

/// The checksum of the entry right before those that a leader sends. Two histories may both use that position, term and
/// leader, if the votes went back in time together with the logs.
pub(super) fn checksum_at(log: &Log, at: &LogId) -> Option<u32> {
    read(log, at.index).and_then(|entry| checksum(&entry.payload))
}

/// Only commands have a checksum, because every release passes them on as they were proposed.
fn checksum(payload: &EntryPayload) -> Option<u32> {
    match payload {
        EntryPayload::Normal(commands) => Some(crc32c::crc32c(&commands.0)),
        EntryPayload::Blank | EntryPayload::Membership(_) => None,
    }
}

fn read(log: &Log, index: u64) -> Option<Entry> {
    let record = log.entries(index..index + 1, usize::MAX).ok()?.pop()?;
    of_record(record).ok()
}
