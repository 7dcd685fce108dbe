//! A leader that lacks what is committed here.
//!
//! Raft knows no such leader: whoever is elected holds every committed entry. It takes disks that forgot what they had
//! acknowledged, such as directories that were put back from a copy, to elect one. openraft takes whatever a leader says
//! about committed positions for what it has there itself, and so would go on with a log spliced of two histories. Here
//! each append is held against the log first; one that does not fit ends this replica, before anything is changed.

use openraft::raft::AppendEntriesRequest;
use synod_store::Log;

use super::ReplicaId;
use super::facade::ConsensusParts;
use super::fatal::Fatal;
use super::inbound::InboundError;
use super::record::{of_record, of_store_id, to_store_id};
use super::types::{Entry, EntryPayload, LogId, TypeConfig, Vote, position_of, vote_of_store};

impl ConsensusParts {
    /// Checks that a leader's append replaces nothing that is committed here, and names nothing differently that is in
    /// this log. `prev_checksum` is of what stands right before the entries.
    ///
    /// # Errors
    ///
    /// When it would. The alarm is raised then, and the process ends.
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
            let last = self.log.last_log_id()?.index;
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

    /// Checks that the positions in a leader's log are the ones that are committed here, as far as this log goes, and
    /// beyond that could follow upon them.
    ///
    /// # Errors
    ///
    /// As above.
    pub(super) fn ensure_agrees(
        &self,
        from: ReplicaId,
        vote: &Vote,
        mut theirs: impl Iterator<Item = LogId>,
    ) -> Result<(), InboundError> {
        let Some(committed) = self.log.committed() else {
            return Ok(());
        };
        // Terms never go down along a log: what stands behind an entry is no lower, and what stands before it no higher.
        let differs = theirs.find_map(|theirs| {
            let their = to_store_id(&theirs);
            if theirs.index > committed.index {
                return (their < committed).then_some((committed, theirs));
            }
            match self.log.log_id(theirs.index) {
                Some(ours) => (ours != their).then_some((ours, theirs)),
                // It is purged here.
                None => (their > committed).then_some((committed, theirs)),
            }
        });
        match differs {
            Some((ours, theirs)) => self.contradicted(
                vote,
                format!(
                    "here it is {}, and replica {from} has {}",
                    position_of(&of_store_id(&ours)),
                    position_of(&theirs)
                ),
            ),
            None => Ok(()),
        }
    }

    /// The entry at a position of this log, if it is there.
    fn entry(&self, at: &LogId) -> Option<Entry> {
        if self.log.log_id(at.index) != Some(to_store_id(at)) {
            return None;
        }
        read(&self.log, at.index)
    }

    fn contradicted(&self, vote: &Vote, detail: String) -> Result<(), InboundError> {
        // Who was deposed and does not know it yet may lack anything, and openraft refuses it. The log was looked at
        // before: a vote that is higher by now only means that fewer are taken for leaders.
        if self.vote.read().map(|vote| vote_of_store(&vote)) > Some(*vote) {
            return Ok(());
        }
        self.alarm.raise(Fatal::Contradicted { detail });
        Err(InboundError::Contradicted)
    }
}

/// What a leader says of the entry right before those that it sends: two histories may use one position twice, when the
/// votes went back in time together with the logs.
pub(super) fn checksum_at(log: &Log, at: &LogId) -> Option<u32> {
    read(log, at.index).and_then(|entry| checksum(&entry.payload))
}

/// Of commands alone, which every release passes on as they were proposed.
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
