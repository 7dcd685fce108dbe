//! Reading entries back, from memory or from disk.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::LogError;
use super::appender::path_of;
use super::entries::RecordPlace;
use super::layout::{RECORD_HEADER_LENGTH, Record};
use super::shared::{Shared, State};
use crate::disk::DiskFile;
use crate::failure::IoFailure;
use crate::log_id::{LogId, LogRecord};

/// Where an entry is to be had. Holding the file keeps it readable even when it is purged meanwhile.
enum Source {
    Memory(LogRecord),
    Disk {
        id: LogId,
        place: RecordPlace,
        file: Arc<dyn DiskFile>,
    },
}

impl Shared {
    pub(super) fn read(
        &self,
        range: Range<u64>,
        max_bytes: usize,
    ) -> Result<Vec<LogRecord>, LogError> {
        // What to read is decided under the lock, so that the answer is the log at one moment.
        let sources = sources(&*self.healthy()?, range, max_bytes);
        sources
            .into_iter()
            .map(|source| self.fetch(source))
            .collect()
    }

    fn fetch(&self, source: Source) -> Result<LogRecord, LogError> {
        let (id, place, file) = match source {
            Source::Memory(record) => return Ok(record),
            Source::Disk { id, place, file } => (id, place, file),
        };
        let path = path_of(&self.directory, place.segment);
        let mut bytes = vec![0; place.length as usize];
        file.read_exact_at(&mut bytes, place.offset)
            .map_err(IoFailure::while_doing("read", &path))?;
        let damaged = |what| LogError::Damaged {
            file: path.clone(),
            offset: place.offset,
            what,
        };
        match Record::decode(&Bytes::from(bytes), place.chain) {
            Ok((Record::Entry(found, payload), ..)) if found == id => Ok(LogRecord { id, payload }),
            Ok(_) => Err(damaged("another record stands where the entry was written")),
            Err(bad) => Err(damaged(bad.what())),
        }
    }
}

fn sources(state: &State, range: Range<u64>, max_bytes: usize) -> Vec<Source> {
    let entries = &state.entries;
    let mut sources = Vec::new();
    let mut bytes = 0_usize;
    for index in range.start.max(entries.first())..range.end.min(entries.next()) {
        let Some(id) = entries.log_id(index) else {
            break;
        };
        let (source, length) = if let Some(payload) = entries.cached(index) {
            (
                Source::Memory(LogRecord {
                    id,
                    payload: payload.clone(),
                }),
                payload.len(),
            )
        } else if let Some((place, file)) = entries
            .place(index)
            .and_then(|place| Some((place, Arc::clone(state.files.get(&place.segment)?))))
        {
            let length =
                (place.length as usize).saturating_sub(RECORD_HEADER_LENGTH + LogId::LENGTH);
            (Source::Disk { id, place, file }, length)
        } else {
            // Unwritten entries are always cached, and written ones have a file.
            unreachable!("entry {index} is neither in memory nor on disk")
        };
        bytes = bytes.saturating_add(length);
        if bytes > max_bytes && !sources.is_empty() {
            break;
        }
        sources.push(source);
    }
    sources
}
