//! openraft's log storage on top of the store's log.
//!
//! openraft requires all writes, votes included, to become durable in the order in which it issued them. The store
//! keeps that order among entries; a vote is written only once every entry before it is durable.

use std::fmt::Debug;
use std::io;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use futures::{Stream, StreamExt};
use openraft::storage::{IOFlushed, RaftLogReader, RaftLogStorage};
use openraft::{LogState, OptionalSend};
use synod_store::{Log, LogRecord, VoteFile};
use tokio::sync::{Notify, oneshot};

use super::checkpoints::Checkpoints;
use super::fatal::{Alarm, Fatal};
use super::record::{of_record, of_store_id, to_record, to_store_id};
use super::types::{Entry, LogId, TypeConfig, Vote, vote_of_store, vote_to_store};
use crate::seams::Offload;

/// The most bytes of entries in one append to a follower, and in one read for apply; but at least one entry.
const READ_BYTES: usize = 1 << 20;

/// The most bytes in one append to the store's log; but at least one entry.
const APPEND_BYTES: usize = 8 << 20;

/// The log of this replica. Clones are handles to the same one.
#[derive(Clone)]
pub(super) struct LogStorage {
    pub(super) log: Log,
    pub(super) vote: Arc<VoteFile>,
    /// Notified whenever there is something to flush.
    pub(super) enqueued: Arc<Notify>,
    pub(super) checkpoints: Checkpoints,
    pub(super) alarm: Alarm,
    pub(super) offload: Offload,
}

impl RaftLogStorage<TypeConfig> for LogStorage {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> io::Result<LogState<TypeConfig>> {
        Ok(LogState {
            last_purged_log_id: self.log.purged().as_ref().map(of_store_id),
            last_log_id: self.log.last_log_id().as_ref().map(of_store_id),
        })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        self.all_durable().await?;
        let vote = vote_to_store(vote);
        let file = Arc::clone(&self.vote);
        self.offload.run(move || file.save(vote)).await?;
        Ok(())
    }

    async fn save_committed(&mut self, committed: Option<LogId>) -> io::Result<()> {
        if let Some(committed) = committed {
            self.log.save_committed(to_store_id(&committed))?;
        }
        Ok(())
    }

    async fn read_committed(&mut self) -> io::Result<Option<LogId>> {
        Ok(self.log.committed().as_ref().map(of_store_id))
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<TypeConfig>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut bytes = 0;
        let mut records: Vec<LogRecord> = Vec::new();
        for record in entries.into_iter().map(to_record) {
            if bytes + record.payload.len() > APPEND_BYTES && !records.is_empty() {
                // Only the callback of the last part is needed: parts become durable in order, and a failure of one
                // fails all that follow.
                self.enqueue(std::mem::take(&mut records), IOFlushed::noop())
                    .await?;
                bytes = 0;
            }
            bytes += record.payload.len();
            records.push(record);
        }
        self.enqueue(records, callback).await
    }

    /// Cuts entries that were never committed. Told to cut others, the replica ends with its files unchanged.
    async fn truncate_after(&mut self, last: Option<LogId>) -> io::Result<()> {
        let index = last.map(|id| id.index);
        if let Some(committed) = self.log.committed().filter(|it| index < Some(it.index)) {
            let detail = match last {
                Some(last) => format!(
                    "the entry at {committed} is committed, but consensus asked to cut the log after {last}"
                ),
                None => format!(
                    "the entry at {committed} is committed, but consensus asked to cut the whole log"
                ),
            };
            let fatal = Fatal::Contradicted { detail };
            self.alarm.raise(fatal.clone());
            return Err(io::Error::other(fatal));
        }
        self.log.truncate_after(last.map(|id| id.index))?;
        self.enqueued.notify_one();
        Ok(())
    }

    /// Purges up to `upto`, but keeps what the older checkpoint needs: if the newer one turns out damaged, the older
    /// one and the log still give the whole state.
    async fn purge(&mut self, upto: LogId) -> io::Result<()> {
        let upto = to_store_id(&upto);
        let last = self.log.last_log_id();
        let holds_it = last.is_some_and(|last| last.index > upto.index || last == upto);
        let allowed = if !holds_it {
            // An installed checkpoint reaches beyond the log: the log begins anew behind it.
            Some(upto)
        } else {
            self.checkpoints.purge_bound().map(|bound| {
                if bound.index < upto.index {
                    bound
                } else {
                    upto
                }
            })
        };
        if let Some(allowed) = allowed {
            self.log.purge(allowed)?;
            self.enqueued.notify_one();
        }
        Ok(())
    }
}

impl RaftLogReader<TypeConfig> for LogStorage {
    async fn try_get_log_entries<RB>(&mut self, range: RB) -> io::Result<Vec<Entry>>
    where
        RB: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        let (start, end) = bounds(&range);
        self.read(start, end, usize::MAX)
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> io::Result<Vec<Entry>> {
        self.read(start, end, READ_BYTES)
    }

    /// Reads at most [`READ_BYTES`] at a time: after a restart, apply may have many entries to read.
    async fn entries_stream<RB>(
        &mut self,
        range: RB,
    ) -> impl Stream<Item = io::Result<Entry>> + OptionalSend
    where
        RB: RangeBounds<u64> + Clone + Debug + OptionalSend,
    {
        let (start, end) = bounds(&range);
        let log = self.clone();
        let reads = futures::stream::unfold(start, move |next| {
            let read = if next < end {
                log.read(next, end, READ_BYTES)
            } else {
                Ok(Vec::new())
            };
            std::future::ready(match read {
                Ok(entries) => entries
                    .last()
                    .map(|last| last.log_id.index + 1)
                    .map(|next| (Ok(entries), next)),
                Err(error) => Some((Err(error), end)),
            })
        });
        reads.flat_map(|read| {
            futures::stream::iter(match read {
                Ok(entries) => entries.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })
        })
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(self.vote.read().as_ref().map(vote_of_store))
    }
}

impl LogStorage {
    pub(super) fn new(
        log: Log,
        vote: VoteFile,
        checkpoints: &Checkpoints,
        alarm: &Alarm,
        offload: Offload,
    ) -> Self {
        Self {
            log,
            vote: Arc::new(vote),
            enqueued: Arc::new(Notify::new()),
            checkpoints: checkpoints.clone(),
            alarm: alarm.clone(),
            offload,
        }
    }

    fn read(&self, start: u64, end: u64, bytes: usize) -> io::Result<Vec<Entry>> {
        self.log
            .entries(start..end, bytes)?
            .into_iter()
            .map(of_record)
            .collect()
    }

    async fn enqueue(
        &self,
        records: Vec<LogRecord>,
        callback: IOFlushed<TypeConfig>,
    ) -> io::Result<()> {
        self.room().await;
        self.log.enqueue_append(
            records,
            Box::new(move |result| callback.io_completed(result)),
        )?;
        self.enqueued.notify_one();
        Ok(())
    }

    /// Waits until the log takes another append, or has failed, which the append then reports.
    async fn room(&self) {
        let (room, waiting) = oneshot::channel();
        self.log.when_room(Box::new(move || {
            // The append that waited was cancelled.
            let _ = room.send(());
        }));
        // The log drops the callback without calling it only when it is dropped itself.
        let _ = waiting.await;
    }

    /// Waits until everything written before is durable.
    pub(super) async fn all_durable(&self) -> io::Result<()> {
        let (done, waiting) = oneshot::channel();
        self.room().await;
        let tell = move |result| {
            // The caller may have stopped waiting; then no one needs the result.
            let _ = done.send(result);
        };
        self.log.enqueue_append(Vec::new(), Box::new(tell))?;
        self.enqueued.notify_one();
        waiting
            .await
            .unwrap_or_else(|_| Err(io::Error::other("the log was closed")))
    }
}

fn bounds(range: &impl RangeBounds<u64>) -> (u64, u64) {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => u64::MAX,
    };
    (start, end)
}

#[cfg(test)]
mod tests;
