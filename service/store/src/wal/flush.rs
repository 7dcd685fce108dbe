//! Flushes the queue to the disk and reports to the callbacks.

use std::io;
use std::sync::{Arc, MutexGuard};

use super::layout::Record;
use super::queue::Item;
use super::shared::{InFlight, Io, LogParts, LogState};
use crate::log_id::LogId;

impl LogParts {
    /// Takes what is in the queue and writes it as one batch, unless a batch still waits for its
    /// sync.
    pub(super) fn write_gathered(&self, io: &mut Io) -> io::Result<bool> {
        if io.in_flight.is_some() {
            return Ok(false);
        }
        let items = {
            let mut state = self.healthy()?;
            take(&mut state, self.config.batch_bytes_max)
        };
        if items.is_empty() {
            return Ok(false);
        }
        let mut records = Vec::new();
        let mut done = Vec::new();
        for item in items {
            records.extend(item.records);
            done.extend(item.done);
        }
        let purged = records.iter().filter_map(purged).next_back();
        let written = if records.is_empty() {
            Ok(Vec::new())
        } else {
            io.appender.write(&records)
        };
        match written {
            Ok(placements) => {
                let wrote = !records.is_empty();
                io.in_flight = Some(InFlight {
                    placements,
                    done,
                    purged,
                    wrote,
                });
                Ok(true)
            }
            Err(failure) => Err(self.poison(failure, done).into()),
        }
    }

    /// Makes the written batch durable and calls the callbacks.
    pub(super) fn sync_written(&self, mut io: MutexGuard<'_, Io>) -> io::Result<()> {
        let Some(InFlight {
            placements,
            done,
            purged,
            wrote,
        }) = io.in_flight.take()
        else {
            drop(self.healthy()?);
            return Ok(());
        };
        if wrote && let Err(failure) = io.appender.sync() {
            return Err(self.poison(failure, done).into());
        }
        let (rooms, idle) = {
            let mut state = self.lock();
            for (index, place) in placements {
                state.entries.written(index, place);
            }
            state.entries.shrink_cache();
            if let Some(segment) = io.appender.segments().last() {
                state
                    .files
                    .entry(segment.number)
                    .or_insert_with(|| Arc::clone(&segment.file));
            }
            state.purge_due = purged.or(state.purge_due);
            state.spare_due = io.appender.wants_spare();
            if state.purge_due.is_some() || state.spare_due {
                self.chores.notify_one();
            }
            let room = state.queue.has_room();
            (
                if room {
                    state.queue.take_waiting()
                } else {
                    Vec::new()
                },
                state.queue.is_empty(),
            )
        };
        done.into_iter().for_each(|done| done(Ok(())));
        rooms.into_iter().for_each(|room| room());
        if idle && wrote {
            // The next batch would prove this one durable, but it may come much later.
            io.appender
                .mark()
                .map_err(|failure| io::Error::from(self.poison(failure, Vec::new())))?;
        }
        Ok(())
    }

    /// Writes and syncs a mark, which proves all before it durable, and the committed log id.
    pub(super) fn seal(&self) -> io::Result<()> {
        let mut io = self.lock_io();
        let committed = unwritten_commit(&mut *self.healthy()?);
        let proof = match committed {
            Some(committed) => io.appender.write(&[committed]).map(drop),
            None => io.appender.mark(),
        };
        let sealed = proof.and_then(|()| io.appender.sync());
        sealed.map_err(|failure| self.poison(failure, Vec::new()).into())
    }
}

/// Takes a batch from the queue. The committed log id is added if there is anything to write.
fn take(state: &mut LogState, bytes_max: usize) -> Vec<Item> {
    let mut items = state.queue.take(bytes_max);
    state.entries.begin_write();
    if items.iter().any(|item| !item.records.is_empty()) {
        let records = Vec::from_iter(unwritten_commit(state));
        items.push(Item {
            records,
            done: None,
        });
    }
    items
}

fn unwritten_commit(state: &mut LogState) -> Option<Record> {
    let committed = state.entries.summary().committed?;
    std::mem::take(&mut state.committed_is_new).then_some(Record::Committed(committed))
}

fn purged(record: &Record) -> Option<LogId> {
    match record {
        Record::Purged(id) => Some(*id),
        Record::Entry(..) | Record::TruncateAfter(_) | Record::Committed(_) => None,
    }
}
