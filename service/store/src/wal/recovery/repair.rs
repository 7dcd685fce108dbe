//! Repairs a surveyed log so that it can be continued. Every step may be interrupted and repeated.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::super::appender::{Segment, path_of};
use super::super::names;
use super::TailCut;
use super::survey::{Cut, Survey, Surveyed};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::replace::remove_if_there;

/// Cuts off the broken end, keeps a copy of it, and makes the rest durable.
pub(super) fn repair(
    disk: &dyn Disk,
    directory: &Path,
    survey: &Survey,
) -> Result<Option<TailCut>, IoFailure> {
    let mut tail_cut = None;
    if let Some(cut) = &survey.cut {
        let kept_copy = keep_copy(disk, directory, cut)?;
        let file = path_of(directory, cut.segment);
        if survey.discard != Some(cut.segment) {
            blank(disk, &file, cut)?;
        }
        let Cut {
            offset,
            complete_looking,
            entries_max,
            ..
        } = *cut;
        tail_cut = Some(TailCut {
            file,
            offset,
            kept_copy,
            complete_looking,
            entries_max,
        });
    }
    if let Some(number) = survey.discard {
        let path = path_of(directory, number);
        disk.remove(&path)
            .map_err(IoFailure::while_doing("remove", &path))?;
    }
    for path in &survey.left_over {
        remove_if_there(disk, path)?;
    }
    rewrite_unproved(disk, directory, survey)?;
    disk.sync_directory(directory)
        .map_err(IoFailure::while_doing("sync directory", directory))?;
    Ok(tail_cut)
}

/// Opens the segments of a repaired log.
pub(super) fn open_segments(
    disk: &dyn Disk,
    directory: &Path,
    survey: &Survey,
) -> Result<VecDeque<Segment>, IoFailure> {
    let open = |surveyed: &Surveyed| {
        let path = path_of(directory, surveyed.number);
        let file = disk
            .open(&path)
            .map_err(IoFailure::while_doing("open", &path))?;
        let (number, capacity, highest) = (surveyed.number, surveyed.length, surveyed.highest);
        Ok(Segment {
            number,
            file,
            capacity,
            highest,
        })
    };
    survey.segments.iter().map(open).collect()
}

/// Keeps the cut bytes durably, under a name that no earlier copy has.
fn keep_copy(disk: &dyn Disk, directory: &Path, cut: &Cut) -> Result<PathBuf, IoFailure> {
    let segment = names::segment(cut.segment);
    let taken = disk
        .list(directory)
        .map_err(IoFailure::while_doing("list", directory))?;
    let name = (0..)
        .map(|attempt| names::broken(&segment, cut.offset, attempt))
        .find(|name| !taken.contains(name))
        .expect("a directory holds fewer files than there are numbers");
    let path = directory.join(name);
    let file = disk
        .create(&path, 0)
        .map_err(IoFailure::while_doing("create", &path))?;
    file.write_all_at(&cut.bytes, 0)
        .map_err(IoFailure::while_doing("write to", &path))?;
    file.sync_data()
        .map_err(IoFailure::while_doing("sync", &path))?;
    if cut.complete_looking {
        // It says nothing until the caller has said what was lost. What an earlier note said was read before.
        let word = directory.join(names::MUST_CATCH_UP);
        disk.create(&word, 0)
            .map_err(IoFailure::while_doing("create", &word))?;
    }
    // Before the original is cleared, the names of the copy and of `MUST-CATCH-UP` must be durable.
    disk.sync_directory(directory)
        .map_err(IoFailure::while_doing("sync directory", directory))?;
    Ok(path)
}

/// Replaces the cut bytes by the zeros that were there before, so that later batches never meet them.
fn blank(disk: &dyn Disk, path: &Path, cut: &Cut) -> Result<(), IoFailure> {
    let file = disk
        .open(path)
        .map_err(IoFailure::while_doing("open", path))?;
    file.write_all_at(&vec![0; cut.bytes.len()], cut.offset)
        .map_err(IoFailure::while_doing("write to", path))?;
    file.sync_data()
        .map_err(IoFailure::while_doing("sync", path))
}

/// Writes and syncs again what is not proved to be durable.
///
/// The process that wrote it may have ended before its sync, or because its sync failed. In the latter case the
/// operating system may hold pages that it takes for clean although they never reached the device: a sync alone would
/// succeed and do nothing.
fn rewrite_unproved(disk: &dyn Disk, directory: &Path, survey: &Survey) -> Result<(), IoFailure> {
    let Some(last) = survey.segments.last() else {
        return Ok(());
    };
    let path = path_of(directory, last.number);
    let file = disk
        .open(&path)
        .map_err(IoFailure::while_doing("open", &path))?;
    let length = survey.end.offset.saturating_sub(survey.unproved_from);
    let length = usize::try_from(length).expect("the segment was read into memory before");
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, survey.unproved_from)
        .map_err(IoFailure::while_doing("read", &path))?;
    file.write_all_at(&bytes, survey.unproved_from)
        .map_err(IoFailure::while_doing("write to", &path))?;
    file.sync_data()
        .map_err(IoFailure::while_doing("sync", &path))
}
