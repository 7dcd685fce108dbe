//! Reads a whole log without changing anything, and decides what to do with its end.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::super::appender::{End, path_of};
use super::super::entries::{Entries, next_index};
use super::super::layout::{
    BadHeader, BatchPosition, Record, SEGMENT_HEADER_LENGTH, SegmentHeader,
};
use super::super::{LogConfig, LostEnd, OpenError, must_catch_up, names};
use super::replay::{Batch, Broken, Frame, apply, read_batch};
use super::tail;
use crate::disk::Disk;
use crate::failure::IoFailure;

/// The result of reading a log.
#[derive(Debug)]
pub(super) struct Survey {
    /// The segments to continue with, in order, at least one.
    pub(super) segments: Vec<Surveyed>,
    pub(super) end: End,
    pub(super) entries: Entries,
    /// The end to cut off, if any.
    pub(super) cut: Option<Cut>,
    /// An empty last segment that is to be removed.
    pub(super) discard: Option<u64>,
    /// Files to remove: unfinished ones, and purged segments whose removal was interrupted.
    pub(super) left_over: Vec<PathBuf>,
    /// The most that an earlier recovery cut off, if the replica has not caught up since.
    pub(super) lost_before: Option<LostEnd>,
    /// The offset in the last of `segments` from which nothing is proved to be durable, in bytes.
    pub(super) unproved_from: u64,
}

/// A segment that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surveyed {
    pub(super) number: u64,
    pub(super) length: u64,
    pub(super) highest: Option<u64>,
}

/// The unfinished end of a segment.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) segment: u64,
    pub(super) offset: u64,
    /// The bytes from `offset` up to the last one that is not zero.
    pub(super) bytes: Bytes,
    pub(super) complete_looking: bool,
    /// The most entries in the bytes.
    pub(super) entries_max: u64,
}

/// Reads the log and decides what is to be done.
pub(super) fn survey(
    disk: &dyn Disk,
    directory: &Path,
    config: &LogConfig,
) -> Result<Survey, OpenError> {
    let names = disk
        .list(directory)
        .map_err(IoFailure::while_doing("list", directory))?;
    let (before_gap, numbers) = segment_numbers(directory, &names)?;
    let temporary = names
        .iter()
        .filter(|name| name.ends_with(names::TEMPORARY_SUFFIX))
        .map(|name| directory.join(name));
    let purged = before_gap.iter().map(|number| path_of(directory, *number));
    let left_over = purged.chain(temporary).collect();
    let is_noted = names.iter().any(|name| name == names::MUST_CATCH_UP);
    let lost_before = is_noted.then(|| must_catch_up::read(disk, directory));
    let mut surveyor = Surveyor {
        directory,
        config,
        segments: Vec::new(),
        log: None,
        cut: None,
        discard: None,
        left_over,
        lost_before: lost_before.transpose()?,
    };
    for (position, number) in numbers.iter().enumerate() {
        let path = path_of(directory, *number);
        let bytes = Bytes::from(
            disk.read(&path)
                .map_err(IoFailure::while_doing("read", &path))?,
        );
        let is_last = position + 1 == numbers.len();
        surveyor.segment(*number, &bytes, is_last)?;
    }
    surveyor.finish()
}

/// Returns the segments before the last gap, and those after it, which are the log.
///
/// The segments before the gap are left over from an interrupted removal. The end of the survey checks that their
/// entries were purged.
fn segment_numbers(directory: &Path, names: &[String]) -> Result<(Vec<u64>, Vec<u64>), OpenError> {
    let mut numbers: Vec<u64> = names
        .iter()
        .filter_map(|name| names::parse_segment(name))
        .collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        return Err(OpenError::Missing {
            directory: directory.to_owned(),
        });
    }
    let gap = numbers
        .windows(2)
        .rposition(|pair| pair[1] != pair[0] + 1)
        .map_or(0, |position| position + 1);
    let log = numbers.split_off(gap);
    Ok((numbers, log))
}

struct Surveyor<'a> {
    directory: &'a Path,
    config: &'a LogConfig,
    segments: Vec<Surveyed>,
    /// What was read so far; `None` before the header of the first segment.
    log: Option<Reading>,
    cut: Option<Cut>,
    discard: Option<u64>,
    left_over: Vec<PathBuf>,
    lost_before: Option<LostEnd>,
}

struct Reading {
    end: End,
    entries: Entries,
    /// The highest sequence that is proved to be durable.
    durable: u64,
    /// The sequence and offset of each batch of the present segment.
    batches: Vec<(u64, u64)>,
    /// The broken end of that segment, if any.
    broken: Option<Broken>,
}

impl Surveyor<'_> {
    fn segment(&mut self, number: u64, bytes: &Bytes, is_last: bool) -> Result<(), OpenError> {
        let (header, chain) = match SegmentHeader::decode(bytes) {
            Ok(decoded) => decoded,
            Err(BadHeader::Newer { found }) => {
                return Err(OpenError::Newer {
                    file: path_of(self.directory, number),
                    found,
                });
            }
            Err(BadHeader::Broken(what)) if is_last => return self.unreadable(number, bytes, what),
            Err(BadHeader::Broken(what)) => {
                return Err(self.damaged(number, 0, what, "a later segment exists".to_owned()));
            }
        };
        self.check_header(number, &header)?;
        let mut reading = self.enter(&header, chain);
        let highest = self.walk(&mut reading, number, bytes)?;
        self.segments.push(Surveyed {
            number,
            length: bytes.len() as u64,
            highest,
        });
        if is_last && let Some(broken) = reading.broken {
            self.cut = Some(self.judge(&reading, number, bytes, &broken)?);
        }
        self.log = Some(reading);
        Ok(())
    }

    /// Checks that a segment belongs here and continues the one before it.
    fn check_header(&self, number: u64, header: &SegmentHeader) -> Result<(), OpenError> {
        if header.directory_id != self.config.directory_id {
            return Err(OpenError::OtherDirectory {
                file: path_of(self.directory, number),
            });
        }
        if header.number != number {
            let what = "its header is that of another segment";
            return Err(self.damaged(
                number,
                0,
                what,
                "the header has a valid checksum".to_owned(),
            ));
        }
        let Some(Reading { end, broken, .. }) = &self.log else {
            return Ok(());
        };
        let continues = header.first_sequence == end.sequence + 1
            && header.chain == end.chain
            && header.before == end.summary;
        if continues {
            return Ok(());
        }
        let (offset, what) = broken.map_or(
            (end.offset, "batches are missing at the end of the segment"),
            |broken| (broken.frame.start, broken.what),
        );
        let evidence = format!(
            "{} was begun when everything before it was durable",
            path_of(self.directory, number).display()
        );
        Err(self.damaged(number - 1, offset, what, evidence))
    }

    /// Continues with a segment; the header of the first one summarises what came before it.
    fn enter(&mut self, header: &SegmentHeader, chain: u32) -> Reading {
        let mut reading = self.log.take().unwrap_or_else(|| Reading {
            end: End {
                offset: 0,
                sequence: header.first_sequence - 1,
                chain,
                summary: header.before,
            },
            entries: Entries::new(header.before, self.config.cache_bytes_max),
            durable: 0,
            batches: Vec::new(),
            broken: None,
        });
        reading.end.offset = SEGMENT_HEADER_LENGTH as u64;
        reading.end.chain = chain;
        reading.durable = header.first_sequence - 1;
        reading.batches.clear();
        // Bytes after the last batch of an earlier segment are not part of the log.
        reading.broken = None;
        reading
    }

    /// Reads batches up to the end of what is readable, and returns the highest index of an entry.
    fn walk(
        &self,
        reading: &mut Reading,
        number: u64,
        bytes: &Bytes,
    ) -> Result<Option<u64>, OpenError> {
        let written_so = || "the checksum is right, so it was written like this".to_owned();
        let Reading {
            end,
            entries,
            durable,
            batches,
            broken,
        } = reading;
        let mut highest = None;
        loop {
            match read_batch(
                bytes,
                &self.place(number, end.offset),
                end.sequence,
                end.chain,
            ) {
                Batch::Nothing => return Ok(highest),
                Batch::Broken(found) => {
                    *broken = Some(found);
                    return Ok(highest);
                }
                Batch::Nonsense { offset, what } => {
                    return Err(self.damaged(number, offset, what, written_so()));
                }
                Batch::Good {
                    header,
                    records,
                    end: next,
                    chain,
                } => {
                    batches.push((header.sequence, end.offset));
                    *durable = (*durable).max(header.durable);
                    let entry_index = |(record, _): &(Record, _)| record.entry_index();
                    highest = highest.max(records.iter().filter_map(entry_index).max());
                    apply(entries, end, records).map_err(|(offset, what)| {
                        self.damaged(number, offset, what, written_so())
                    })?;
                    *end = End {
                        offset: next,
                        sequence: header.sequence,
                        chain,
                        ..*end
                    };
                }
            }
        }
    }

    /// Decides whether a broken end of the last segment is cut or refused.
    fn judge(
        &self,
        reading: &Reading,
        number: u64,
        bytes: &Bytes,
        broken: &Broken,
    ) -> Result<Cut, OpenError> {
        let place = self.place(number, broken.offset);
        let sequence = reading.end.sequence + 1;
        if let Some(proof) = tail::proof_of_durability(bytes, &place, broken, sequence) {
            return Err(self.damaged(number, broken.frame.start, broken.what, proof));
        }
        Ok(cut(&place, bytes, broken))
    }

    /// Decides on a last segment whose header is not readable: an unfinished roll, or damage.
    fn unreadable(
        &mut self,
        number: u64,
        bytes: &Bytes,
        what: &'static str,
    ) -> Result<(), OpenError> {
        let Some(reading) = &self.log else {
            let evidence =
                "it is the only segment, and segments are removed only once a later one is durable";
            return Err(self.damaged(number, 0, what, evidence.to_owned()));
        };
        if let Some(broken) = &reading.broken {
            let evidence =
                "a segment follows, which was begun when everything before it was durable";
            return Err(self.damaged(
                number - 1,
                broken.frame.start,
                broken.what,
                evidence.to_owned(),
            ));
        }
        self.discard = Some(number);
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let end = SEGMENT_HEADER_LENGTH as u64;
        let frame = Frame {
            start: 0,
            header_end: end,
            end,
        };
        let broken = Broken {
            offset: 0,
            write_end: None,
            frame,
            what,
        };
        self.cut = Some(self.judge(reading, number, bytes, &broken)?);
        Ok(())
    }

    fn finish(self) -> Result<Survey, OpenError> {
        let Self {
            directory,
            segments,
            log,
            cut,
            discard,
            left_over,
            lost_before,
            config: _,
        } = self;
        let (Some(reading), Some(first)) = (log, segments.first()) else {
            return Err(OpenError::Missing {
                directory: directory.to_owned(),
            });
        };
        let Reading {
            end,
            mut entries,
            durable,
            batches,
            ..
        } = reading;
        // The entries before the first segment must all have been purged.
        if entries.first() != next_index(entries.summary().purged) {
            let missing = path_of(directory, first.number.saturating_sub(1));
            return Err(OpenError::MissingSegment { file: missing });
        }
        // A commit may have been written before the entries that it covers.
        entries.limit_commit();
        let unproved_from = match batches.iter().position(|(sequence, _)| *sequence > durable) {
            // The header of a segment is written together with its first batch.
            Some(0) => 0,
            Some(position) => batches[position].1,
            None if batches.is_empty() => 0,
            None => end.offset,
        };
        Ok(Survey {
            segments,
            end,
            entries,
            cut,
            discard,
            left_over,
            lost_before,
            unproved_from,
        })
    }

    fn place(&self, segment: u64, offset: u64) -> BatchPosition {
        BatchPosition {
            directory_id: self.config.directory_id,
            segment,
            offset,
        }
    }

    fn damaged(&self, number: u64, offset: u64, what: &'static str, evidence: String) -> OpenError {
        OpenError::Damaged {
            file: path_of(self.directory, number),
            offset,
            what,
            evidence,
        }
    }
}

fn cut(place: &BatchPosition, bytes: &Bytes, broken: &Broken) -> Cut {
    let start = usize::try_from(broken.offset)
        .unwrap_or(usize::MAX)
        .min(bytes.len());
    let end = usize::try_from(tail::end_of_content(bytes))
        .unwrap_or(usize::MAX)
        .max(start);
    Cut {
        segment: place.segment,
        offset: broken.offset,
        entries_max: tail::entries_max(&bytes.slice(start..), end - start, place),
        bytes: bytes.slice(start..end),
        complete_looking: !tail::has_unwritten_sector(bytes, broken),
    }
}
