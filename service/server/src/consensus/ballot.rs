//! Whether this replica may vote and stand for election.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use synod_store::wal::TailCut;
use synod_store::{Log, LogId, LostEnd, Recovery, Vote};

/// Open, unless recovery had to cut a record off the log that looked complete.
///
/// Such a record may have been acknowledged. A replica that has lost an acknowledged entry must not help to elect a
/// leader that lacks it. So until it has applied everything that the leader's log holds, it does not stand, and votes for a
/// candidate alone whose log has at least what was lost. The log records this on disk, so it outlives restarts.
#[derive(Clone)]
pub(super) struct Ballot {
    open: Arc<AtomicBool>,
    /// The most that was lost, if anything was.
    lost: Option<LostEnd>,
    log: Log,
}

impl Ballot {
    /// The ballot of the replica whose log had this recovery, with its vote and the last index that its checkpoints covered.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub(super) fn new(
        log: Log,
        recovery: &Recovery,
        vote: Option<Vote>,
        checkpoint: Option<u64>,
    ) -> io::Result<Self> {
        let mut lost = recovery.lost_before;
        if let Some(cut) = recovery.cut.as_ref().filter(|cut| cut.complete_looking) {
            tracing::warn!(
                file = %cut.file.display(), offset = cut.offset, kept = %cut.kept_copy.display(),
                "the log's end was damaged in a way that a lost write does not explain"
            );
            let now = most_lost(recovery, cut, vote, checkpoint);
            let all = lost.map_or(now, |before| before.and(now));
            log.note_lost_end(all)?;
            lost = Some(all);
        }
        if recovery.must_catch_up {
            tracing::warn!(
                "before it has caught up with a leader, this replica votes for nobody who may lack what it lost"
            );
        }
        let open = Arc::new(AtomicBool::new(!recovery.must_catch_up));
        Ok(Self { open, lost, log })
    }

    /// The most that was cut off this replica's log, while it has not caught up.
    pub(super) fn lost_end(&self) -> Option<LostEnd> {
        self.lost.filter(|_| !self.is_open())
    }

    /// Whether this replica may vote for a candidate whose log ends so.
    pub(super) fn may_vote_for(&self, last: Option<LogId>) -> bool {
        let lost = self.lost_end();
        self.is_open() || lost.is_some_and(|lost| lost.is_held_by(last))
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Lets this replica vote and stand for election, also after a restart. The caller must have made sure that its log lacks
    /// nothing that it may have acknowledged, on the disk as well.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub(super) fn open(&self) -> io::Result<()> {
        self.log.caught_up()?;
        self.open.store(true, Ordering::Release);
        Ok(())
    }
}

/// The most that the end held which was cut off.
///
/// A vote is on the disk before entries of its leader are, so none is of a later one. Where the end held the note that a
/// checkpoint replaced the log, that checkpoint was on the disk before. A vote for somebody who never led makes this more than was
/// lost, which only delays.
fn most_lost(
    recovery: &Recovery,
    cut: &TailCut,
    vote: Option<Vote>,
    checkpoint: Option<u64>,
) -> LostEnd {
    let kept = recovery.last.map(|last| last.index).max(checkpoint);
    let next = kept.map_or(0, |last| last.saturating_add(1));
    let first = LogId {
        term: 0,
        leader: 0,
        index: 0,
    };
    LostEnd(match (vote, cut.entries_max.checked_sub(1)) {
        (Some(vote), Some(more)) => LogId {
            term: vote.term,
            leader: vote.leader,
            index: next.saturating_add(more),
        },
        // Nothing was lost but notes, or the entry at index 0 that founds a cluster and comes before any vote.
        (None, _) | (_, None) => first,
    })
}
