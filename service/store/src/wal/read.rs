//! Reads entries back, from memory or from disk.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::LogError;
use super::appender::path_of;
use super::entries::RecordPlace;
use super::layout::{ENTRY_OVERHEAD, Record};
use super::shared::{LogParts, LogState};
use crate::disk::DiskFile;
use crate::failure::IoFailure;
use crate::log_id::{LogId, LogRecord};

/// The greatest span of the records that one read covers, in bytes.
const RUN_BYTES_MAX: u64 = 256 << 10;

/// The greatest gap between two records that is read along instead of reading twice, in bytes.
const GAP_BYTES_MAX: u64 = 4 << 10;

/// The source of an entry. Holding the file keeps it readable even if it is purged meanwhile.
enum Source {
    Memory(LogRecord),
    Disk(OnDisk),
}

struct OnDisk {
    id: LogId,
    place: RecordPlace,
    file: Arc<dyn DiskFile>,
}

impl OnDisk {
    fn end(&self) -> u64 {
        self.place.offset + u64::from(self.place.length)
    }
}

impl LogParts {
    pub(super) fn read(
        &self,
        range: Range<u64>,
        max_bytes: usize,
    ) -> Result<Vec<LogRecord>, LogError> {
        // The sources are chosen under the lock, so that the answer is the log at one moment.
        let sources = sources(&*self.healthy()?, range, max_bytes);
        let mut records = Vec::with_capacity(sources.len());
        let mut run = Vec::new();
        for source in sources {
            match source {
                Source::Memory(record) => {
                    self.read_run(&mut run, &mut records)?;
                    records.push(record);
                }
                Source::Disk(next) => {
                    if !continues(&run, &next) {
                        self.read_run(&mut run, &mut records)?;
                    }
                    run.push(next);
                }
            }
        }
        self.read_run(&mut run, &mut records)?;
        Ok(records)
    }

    /// Reads records that are close together in one segment with one read, and empties the run.
    fn read_run(
        &self,
        run: &mut Vec<OnDisk>,
        records: &mut Vec<LogRecord>,
    ) -> Result<(), LogError> {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return Ok(());
        };
        let start = first.place.offset;
        let path = path_of(&self.directory, first.place.segment);
        let mut bytes = vec![0; usize::try_from(last.end() - start).unwrap_or(usize::MAX)];
        first
            .file
            .read_exact_at(&mut bytes, start)
            .map_err(IoFailure::while_doing("read", &path))?;
        let bytes = Bytes::from(bytes);
        for OnDisk { id, place, .. } in run.drain(..) {
            let at = usize::try_from(place.offset - start).unwrap_or(usize::MAX);
            let damaged = |what| LogError::Damaged {
                file: path.clone(),
                offset: place.offset,
                what,
            };
            match Record::decode(&bytes.slice(at..at + place.length as usize), place.chain) {
                Ok((Record::Entry(found, payload), ..)) if found == id => {
                    // Copied, because a slice would keep all of the run in memory.
                    let payload = Bytes::copy_from_slice(&payload);
                    records.push(LogRecord { id, payload });
                }
                Ok(_) => return Err(damaged("another record stands where the entry was written")),
                Err(bad) => return Err(damaged(bad.what())),
            }
        }
        Ok(())
    }
}

/// Whether a record is close enough to a run to be read along with it.
fn continues(run: &[OnDisk], next: &OnDisk) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return true;
    };
    last.place.segment == next.place.segment
        && (last.end()..=last.end() + GAP_BYTES_MAX).contains(&next.place.offset)
        && next.end() - first.place.offset <= RUN_BYTES_MAX
}

/// Chooses the entries to read, each with its source.
fn sources(state: &LogState, range: Range<u64>, max_bytes: usize) -> Vec<Source> {
    let entries = &state.entries;
    let mut sources = Vec::new();
    let mut bytes = 0_usize;
    for index in range.start.max(entries.first())..range.end.min(entries.next()) {
        let Some(id) = entries.log_id(index) else {
            break;
        };
        let (source, length) = if let Some(payload) = entries.cached(index) {
            let payload = payload.clone();
            let length = payload.len();
            (Source::Memory(LogRecord { id, payload }), length)
        } else if let Some(place) = entries.place(index)
            && let Some(file) = state.files.get(&place.segment)
        {
            let file = Arc::clone(file);
            let length = (place.length as usize).saturating_sub(ENTRY_OVERHEAD);
            (Source::Disk(OnDisk { id, place, file }), length)
        } else {
            // Unwritten entries stay in memory, and the segments of written ones stay open.
            unreachable!("the entry at {id} is neither in memory nor on disk")
        };
        bytes = bytes.saturating_add(length);
        if bytes > max_bytes && !sources.is_empty() {
            break;
        }
        sources.push(source);
    }
    sources
}
