//! Opens a log: reads everything and decides, and only then changes anything.

mod repair;
mod replay;
mod survey;
mod tail;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::appender::{End, Segment};
use super::entries::Entries;
use super::layout::{SEGMENT_HEADER_LENGTH, SegmentHeader, Summary};
use super::{LogConfig, LostEnd, OpenError, names};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;
use crate::replace::{TEMPORARY_SUFFIX, replace_file};

/// What a log held when it was opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovery {
    /// The last entry, or the last purged one if none follows.
    pub last: Option<LogId>,
    /// The last purged entry.
    pub purged: Option<LogId>,
    /// The last entry known to be committed; never after `last`.
    pub committed: Option<LogId>,
    /// The end that was cut off, if the last write had not been completed.
    pub cut: Option<TailCut>,
    /// Whether acknowledged entries may be missing because a complete-looking end was cut off, now or before an earlier
    /// start: the replica must not stand for election, and must vote for those alone who have what was lost, until it has caught
    /// up with the leader and has recorded that with [`Log::caught_up`](super::Log::caught_up).
    pub must_catch_up: bool,
    /// The most that an end held which was cut off before an earlier start, if the replica has not caught up since.
    pub lost_before: Option<LostEnd>,
}

/// The end of a log that was cut off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TailCut {
    /// The segment.
    pub file: PathBuf,
    /// The offset of the cut, in bytes.
    pub offset: u64,
    /// The file that keeps the bytes that were cut off.
    pub kept_copy: PathBuf,
    /// Whether a torn write does not explain the broken batch, so that acknowledged entries may be gone: see
    /// [`Recovery::must_catch_up`].
    pub complete_looking: bool,
    /// The most entries that the end held.
    pub entries_max: u64,
}

/// What the open log continues with. All of it is durable.
#[derive(Debug)]
pub(super) struct Recovered {
    /// In order, without a gap, at least one.
    pub(super) segments: VecDeque<Segment>,
    pub(super) end: End,
    pub(super) entries: Entries,
}

/// Opens a log.
pub(super) fn open(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    config: &LogConfig,
) -> Result<(Recovered, Recovery), OpenError> {
    let survey = survey::survey(&**disk, directory, config)?;
    let Summary {
        purged,
        last,
        committed,
    } = survey.entries.summary();
    let cut = repair::repair(&**disk, directory, &survey)?;
    let must_catch_up =
        survey.lost_before.is_some() || cut.as_ref().is_some_and(|cut| cut.complete_looking);
    let segments = repair::open_segments(&**disk, directory, &survey)?;
    let recovery = Recovery {
        last,
        purged,
        committed,
        cut,
        must_catch_up,
        lost_before: survey.lost_before,
    };
    Ok((
        Recovered {
            segments,
            end: survey.end,
            entries: survey.entries,
        },
        recovery,
    ))
}

/// Writes the first segment, which holds only a header.
///
/// It is put in place in one step, so a log directory either has a readable segment or was never in use. A log that has
/// lost its files is therefore never taken for a new one.
pub(super) fn format(
    disk: &dyn Disk,
    directory: &Path,
    directory_id: [u8; 16],
) -> Result<(), IoFailure> {
    let header = SegmentHeader {
        directory_id,
        number: 1,
        first_sequence: 1,
        chain: 0,
        before: Summary::default(),
    };
    let mut content = Vec::new();
    header.encode(&mut content);
    replace_file(disk, directory, &names::segment(1), &content)
}

/// Whether the directory holds no more than [`format()`] writes, complete or interrupted.
pub(super) fn is_blank(disk: &dyn Disk, directory: &Path) -> bool {
    let Ok(names) = disk.list(directory) else {
        return false;
    };
    let first = names::segment(1);
    names.iter().all(|name| {
        name.strip_prefix(&first).is_some_and(|rest| match rest {
            "" => disk
                .read(&directory.join(name))
                .is_ok_and(|content| content.len() == SEGMENT_HEADER_LENGTH),
            rest => rest == TEMPORARY_SUFFIX,
        })
    })
}
