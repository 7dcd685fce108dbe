//! Writes batches into segments, with one write and one sync for each.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::LogConfig;
use super::entries::RecordPlace;
use super::layout::{
    BATCH_HEADER_LENGTH, BatchHeader, BatchPosition, Record, SEGMENT_HEADER_LENGTH, SegmentHeader,
    Summary,
};
use super::names;
use crate::disk::{Disk, DiskFile};
use crate::failure::IoFailure;

/// A segment on disk.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) number: u64,
    pub(super) file: Arc<dyn DiskFile>,
    /// The length of the file in bytes.
    pub(super) capacity: u64,
    /// The highest index of an entry in it, including entries truncated since.
    pub(super) highest: Option<u64>,
}

/// The end of the log on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    /// In the last segment, in bytes.
    pub(super) offset: u64,
    /// The sequence of the last batch.
    pub(super) sequence: u64,
    pub(super) chain: u32,
    /// The summary of all records on disk.
    pub(super) summary: Summary,
}

/// The place of each entry of a batch, by index.
pub(super) type Placements = Vec<(u64, RecordPlace)>;

/// Writes batches. A log has exactly one, behind a lock.
#[derive(Debug)]
pub(super) struct Appender {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    config: LogConfig,
    /// Never empty; the last one is written to.
    segments: VecDeque<Segment>,
    end: End,
    /// The sequence of the last batch that is known to be durable.
    durable: u64,
    /// Whether the name of the last segment is not durable yet, since no sync of the directory followed.
    name_is_new: bool,
    spare: Option<Unborn>,
    /// Whether a spare is wanted for the segment after the last one. Only one caller is told.
    spare_wanted: bool,
    /// Counts the files that are to become segments, so that their names are unique.
    unborn: u64,
    buffer: Vec<u8>,
}

/// A zero-filled file that becomes a segment by a rename.
#[derive(Debug)]
pub(super) struct Unborn {
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn DiskFile>,
    pub(super) capacity: u64,
}

impl Unborn {
    /// Allocates a file; nothing about it is durable yet.
    pub(super) fn create(disk: &dyn Disk, path: PathBuf, capacity: u64) -> Result<Self, IoFailure> {
        let file = disk
            .create(&path, capacity)
            .map_err(IoFailure::while_doing("allocate", &path))?;
        Ok(Self {
            path,
            file,
            capacity,
        })
    }
}

impl Appender {
    /// Continues a log whose every byte up to `end` is durable.
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        directory: PathBuf,
        config: LogConfig,
        segments: VecDeque<Segment>,
        end: End,
    ) -> Self {
        Self {
            disk,
            directory,
            config,
            segments,
            end,
            durable: end.sequence,
            name_is_new: false,
            spare: None,
            spare_wanted: true,
            unborn: 0,
            buffer: Vec::new(),
        }
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    /// Writes one batch; it is durable after the next [`Appender::sync`].
    pub(super) fn write(&mut self, records: &[Record]) -> Result<Placements, IoFailure> {
        let body: usize = records.iter().map(Record::length).sum();
        let length = (BATCH_HEADER_LENGTH + body) as u64;
        self.buffer.clear();
        if self.end.offset + length > self.last().capacity {
            self.roll(length)?;
        }
        let start = self.end.offset - self.buffer.len() as u64;
        self.buffer.reserve(BATCH_HEADER_LENGTH + body);
        let placements = self.encode(records, body);
        let segment = self.last();
        segment
            .file
            .write_all_at(&self.buffer, start)
            .map_err(IoFailure::while_doing(
                "write to",
                &self.path_of(segment.number),
            ))?;
        self.end.offset = start + self.buffer.len() as u64;
        // The buffer of one huge batch is not kept.
        self.buffer
            .shrink_to(self.config.batch_bytes_max.min(1 << 20));
        Ok(placements)
    }

    /// Makes everything written durable.
    pub(super) fn sync(&mut self) -> Result<(), IoFailure> {
        let segment = self.last();
        segment.file.sync_data().map_err(IoFailure::while_doing(
            "sync",
            &self.path_of(segment.number),
        ))?;
        if self.name_is_new {
            self.disk
                .sync_directory(&self.directory)
                .map_err(IoFailure::while_doing("sync directory", &self.directory))?;
            self.name_is_new = false;
        }
        self.durable = self.end.sequence;
        Ok(())
    }

    /// Writes an empty batch, which proves to a later recovery that everything before it is durable.
    ///
    /// It need not be durable itself. Does nothing if there is nothing new to prove.
    pub(super) fn mark(&mut self) -> Result<(), IoFailure> {
        let fits = self.end.offset + BATCH_HEADER_LENGTH as u64 <= self.last().capacity;
        if fits && self.durable == self.end.sequence {
            self.write(&[])?;
        }
        Ok(())
    }

    /// Begins a new segment and puts its header into the buffer.
    fn roll(&mut self, batch_length: u64) -> Result<(), IoFailure> {
        if self.durable != self.end.sequence {
            // A segment exists only once everything before it is durable: recovery relies on that.
            self.sync()?;
        }
        let number = self.last().number + 1;
        let needed = SEGMENT_HEADER_LENGTH as u64 + batch_length;
        let spare = self.spare.take();
        let unborn = match spare.filter(|spare| spare.capacity >= needed) {
            Some(spare) => spare,
            None => {
                let path = self.unborn_path();
                Unborn::create(&*self.disk, path, self.config.segment_bytes.max(needed))?
            }
        };
        let path = self.path_of(number);
        self.disk
            .rename(&unborn.path, &path)
            .map_err(IoFailure::while_doing("rename into place", &path))?;
        self.spare_wanted = true;
        self.name_is_new = true;
        let header = SegmentHeader {
            directory_id: self.config.directory_id,
            number,
            first_sequence: self.end.sequence + 1,
            chain: self.end.chain,
            before: self.end.summary,
        };
        self.end.chain = header.encode(&mut self.buffer);
        self.end.offset = self.buffer.len() as u64;
        self.segments.push_back(Segment {
            number,
            file: unborn.file,
            capacity: unborn.capacity,
            highest: None,
        });
        Ok(())
    }

    /// Appends a batch to the buffer, whose end belongs at `self.end.offset` in the segment.
    fn encode(&mut self, records: &[Record], body: usize) -> Placements {
        let place = BatchPosition {
            directory_id: self.config.directory_id,
            segment: self.last().number,
            offset: self.end.offset,
        };
        self.end.sequence += 1;
        let header = BatchHeader {
            body_length: u32::try_from(body).expect("the bound of the queue keeps batches short"),
            record_count: u32::try_from(records.len())
                .expect("a batch has fewer records than bytes"),
            sequence: self.end.sequence,
            durable: self.durable,
            chain: self.end.chain,
        };
        let origin = self.buffer.len();
        let mut chain = header.encode(&place, &mut self.buffer);
        let mut placements = Vec::new();
        let mut highest = self.last().highest;
        for record in records {
            let offset = place.offset + (self.buffer.len() - origin) as u64;
            let before = chain;
            chain = record.encode(chain, &mut self.buffer);
            self.end.summary.add(record);
            if let Record::Entry(id, _) = record {
                let length =
                    u32::try_from(record.length()).expect("a record is shorter than a batch");
                let place = RecordPlace {
                    segment: place.segment,
                    offset,
                    length,
                    chain: before,
                };
                placements.push((id.index, place));
                highest = highest.max(Some(id.index));
            }
        }
        self.end.chain = chain;
        if let Some(segment) = self.segments.back_mut() {
            segment.highest = highest;
        }
        placements
    }

    /// Drops the segments that hold nothing after `purged`, which must be durable by now, but never the last one.
    /// Returns the number of the first that is kept, if any was dropped.
    pub(super) fn forget_purged(&mut self, purged: u64) -> Option<u64> {
        let forgotten = self
            .segments
            .iter()
            .take(self.segments.len() - 1)
            .take_while(|segment| segment.highest.is_none_or(|index| index <= purged))
            .count();
        self.segments.drain(..forgotten);
        let kept = self.segments.front()?;
        (forgotten > 0).then_some(kept.number)
    }

    /// Whether it is time to prepare a spare.
    pub(super) fn wants_spare(&self) -> bool {
        self.spare_wanted && self.spare.is_none() && self.end.offset > self.last().capacity / 2
    }

    /// Returns the path for a spare if it is time to prepare one. Only one caller gets it.
    pub(super) fn begin_spare(&mut self) -> Option<PathBuf> {
        if !self.wants_spare() {
            return None;
        }
        // If this fails or is late, the flush that needs a segment creates one under another name.
        self.spare_wanted = false;
        Some(self.unborn_path())
    }

    /// Takes a zero-filled and synced spare, so that the first sync of the segment need not write zeros.
    pub(super) fn put_spare(&mut self, spare: Unborn) {
        self.spare = Some(spare);
    }

    fn unborn_path(&mut self) -> PathBuf {
        self.unborn += 1;
        self.directory.join(names::unborn(self.unborn))
    }

    fn last(&self) -> &Segment {
        self.segments
            .back()
            .expect("a log has at least one segment")
    }

    fn path_of(&self, segment: u64) -> PathBuf {
        path_of(&self.directory, segment)
    }
}

/// The path of a segment.
pub(super) fn path_of(directory: &Path, segment: u64) -> PathBuf {
    directory.join(names::segment(segment))
}
