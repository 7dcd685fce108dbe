//! Recovery of a log that was being written when the power failed.

use super::*;
use crate::LostEnd;
use crate::disk::SECTOR_BYTES;
use crate::wal::layout::BATCH_HEADER_LENGTH;

/// The offsets of the batches of a segment, and the end of the last one.
pub(super) fn batch_offsets(disk: &SimDisk, number: u64) -> Vec<u64> {
    use crate::wal::layout::{BatchHeader, BatchPosition};
    let content = &disk.files()[&segment(number)];
    let mut offsets = vec![crate::wal::layout::SEGMENT_HEADER_LENGTH as u64];
    loop {
        let offset = offsets[offsets.len() - 1];
        let place = BatchPosition {
            directory_id: DIRECTORY_ID,
            segment: number,
            offset,
        };
        let rest = &content[usize::try_from(offset).unwrap()..];
        let Some((header, _)) = BatchHeader::decode(rest, &place) else {
            return offsets;
        };
        offsets.push(offset + BATCH_HEADER_LENGTH as u64 + u64::from(header.body_length));
    }
}

/// Opens a log whose last segment has this content, and checks that it was cut at the beginning of
/// the first batch that is not whole.
fn check_cut(original: &SimDisk, number: u64, content: Vec<u8>, entries: &[(u64, Vec<LogRecord>)]) {
    let path = segment(number);
    let before = original.files()[&path].clone();
    let mut files = original.files();
    files.insert(path.clone(), content.clone());
    let disk = SimDisk::with_files(&files);
    let same = before
        .iter()
        .zip(content.iter().chain(std::iter::repeat(&0)))
        .take_while(|(a, b)| a == b)
        .count() as u64;
    let expected: Vec<_> = entries
        .iter()
        .filter(|(end, _)| *end <= same)
        .flat_map(|(_, entries)| entries.clone())
        .collect();
    let (log, recovery) = open(&disk);
    assert_eq!(all(&log), expected, "cut at {same}");
    if let Some(cut) = &recovery.cut {
        assert_eq!(cut.file, path);
        let kept = &disk.files()[&cut.kept_copy];
        let at = usize::try_from(cut.offset).unwrap();
        assert_eq!(
            kept[..],
            content[at..at + kept.len()],
            "the copy is what was cut off"
        );
        assert!(content[at + kept.len()..].iter().all(|byte| *byte == 0));
    }
    let (again, second) = open(&disk);
    assert_eq!(
        (second.cut, all(&again)),
        (None, expected.clone()),
        "recovery is done once"
    );
    let next = entry(9, expected.len() as u64);
    append(&again, [next.clone()]);
    disk.crash(same);
    let expected: Vec<_> = expected.into_iter().chain([next]).collect();
    assert_eq!(
        all(&open(&disk).0),
        expected,
        "what is appended after a cut stays"
    );
}

fn check_every_cut(
    disk: &SimDisk,
    number: u64,
    first_byte: u64,
    entries: &[(u64, Vec<LogRecord>)],
) {
    let content = disk.files()[&segment(number)].clone();
    for at in usize::try_from(first_byte).unwrap()..content.len() {
        let mut zeroed = content.clone();
        zeroed[at..].fill(0);
        check_cut(disk, number, zeroed, entries);
        check_cut(disk, number, content[..at].to_vec(), entries);
    }
}

#[test]
fn every_cut_of_the_last_three_records_in_batches_of_their_own_leaves_the_earlier_ones() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let batches: Vec<Vec<_>> = (0..6).map(|index| vec![entry_of(1, index, 60)]).collect();
    for batch in &batches {
        append(&log, batch.clone());
    }
    // Each batch is followed by its mark, in the second segment.
    let offsets = batch_offsets(&disk, 2);
    let entries: Vec<_> = (0..6)
        .map(|i| (offsets[2 * i + 1], batches[i].clone()))
        .collect();
    check_every_cut(&disk, 2, offsets[2 * 3], &entries);
}

// Guarantee: D-01
#[test]
fn every_cut_of_the_last_three_records_in_one_batch_leaves_the_earlier_ones() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let batches = [
        vec![entry(1, 0), entry(1, 1)],
        vec![entry(1, 2), entry_of(1, 3, 700), entry(1, 4)],
    ];
    append(&log, batches[0].clone());
    // Another entry is waiting, so no mark follows the batch.
    enqueue(&log, batches[1].clone());
    log.write_gathered().unwrap();
    enqueue(&log, [entry(1, 5)]);
    log.sync_written().unwrap();
    let offsets = batch_offsets(&disk, 2);
    let entries = [
        (offsets[1], batches[0].clone()),
        (offsets[3], batches[1].clone()),
    ];
    check_every_cut(&disk, 2, offsets[2], &entries);
}

/// A log with two durable entries, and a batch of three over several sectors that was not synced.
fn with_a_batch_in_flight() -> (SimDisk, u64, u64) {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0), entry(1, 1)]);
    let before = disk.counts();
    enqueue(
        &log,
        [
            entry_of(1, 2, 700),
            entry_of(1, 3, 1300),
            entry_of(1, 4, 500),
        ],
    );
    log.write_gathered().unwrap();
    assert_eq!(disk.counts().file_syncs, before.file_syncs);
    let offsets = batch_offsets(&disk, 2);
    (disk, offsets[2], offsets[3])
}

#[test]
fn sectors_missing_anywhere_in_an_unfinished_batch_are_a_torn_write() {
    let (original, start, end) = with_a_batch_in_flight();
    let durable = [entry(1, 0), entry(1, 1)];
    let sectors: Vec<u64> = (start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES)).collect();
    assert!((5..10).contains(&sectors.len()));
    for missing in 1_u32..1 << sectors.len() {
        let mut files = original.files();
        let content = files.get_mut(&segment(2)).unwrap();
        for (bit, sector) in sectors
            .iter()
            .enumerate()
            .filter(|(bit, _)| missing >> bit & 1 == 1)
        {
            let from = start.max(sector * SECTOR_BYTES);
            let to = end.min((sector + 1) * SECTOR_BYTES);
            assert!(from < to, "{bit}");
            content[usize::try_from(from).unwrap()..usize::try_from(to).unwrap()].fill(0);
        }
        let disk = SimDisk::with_files(&files);
        let (log, recovery) = open(&disk);
        assert_eq!(all(&log), durable, "missing sectors {missing:b}");
        if let Some(cut) = recovery.cut {
            assert!(!cut.complete_looking, "missing sectors {missing:b}");
        }
    }
}

#[test]
fn an_unfinished_batch_that_was_written_completely_is_kept() {
    let (disk, ..) = with_a_batch_in_flight();
    disk.kill();
    let (log, recovery) = open(&disk);
    assert_eq!((recovery.cut, recovery.last), (None, Some(id(1, 4))));
    let entries = all(&log);
    assert_eq!(entries.len(), 5);
    disk.crash(1);
    assert_eq!(all(&open(&disk).0), entries, "and durable once it was seen");
}

#[test]
fn a_complete_looking_end_is_cut_and_reported() {
    let (original, start, end) = with_a_batch_in_flight();
    for offset in start..end {
        let disk = SimDisk::with_files(&original.files());
        disk.corrupt(&segment(2), offset, |byte| byte ^ 0x10)
            .unwrap();
        let (log, recovery) = open(&disk);
        let cut = recovery.cut.unwrap();
        assert!(cut.complete_looking, "damage at {offset}");
        assert_eq!((cut.offset, recovery.last), (start, Some(id(1, 1))));
        assert_eq!(all(&log).len(), 2);
        assert!(recovery.must_catch_up);
        assert_eq!(cut.entries_max, 3, "damage at {offset}");
        disk.crash(offset);
        let (log, recovery) = open(&disk);
        assert!(
            recovery.cut.is_none() && recovery.must_catch_up,
            "a restart does not forget it"
        );
        log.caught_up().unwrap();
        disk.crash(offset);
        assert!(!open(&disk).1.must_catch_up);
    }
}

#[test]
fn a_batch_of_which_nothing_is_readable_may_have_held_anything() {
    let (original, start, _) = with_a_batch_in_flight();
    let disk = SimDisk::with_files(&original.files());
    for offset in start..start + SECTOR_BYTES {
        disk.corrupt(&segment(2), offset, |_| 0xA5).unwrap();
    }
    assert_eq!(open(&disk).1.cut.unwrap().entries_max, u64::MAX);
}

/// A later cut takes something that is not known before the caller has said so: an earlier note says too little then.
#[test]
fn a_note_from_before_says_nothing_of_what_a_later_cut_took() {
    let (disk, start, _) = with_a_batch_in_flight();
    let lost = LostEnd(id(1, 1));
    let mut files = disk.files();
    files.insert(
        directory().join("MUST-CATCH-UP"),
        lost.encode().into_bytes(),
    );
    let disk = SimDisk::with_files(&files);
    disk.corrupt(&segment(2), start, |byte| byte ^ 0x10)
        .unwrap();
    let recovery = open(&disk).1;
    assert!(recovery.cut.is_some() && recovery.lost_before == Some(lost));
    // The process ends before it has noted what was lost.
    disk.crash(1);
    let (log, recovery) = open(&disk);
    assert_eq!(
        (recovery.cut, recovery.lost_before),
        (None, Some(LostEnd::UNKNOWN))
    );
    log.note_lost_end(lost).unwrap();
    disk.crash(2);
    assert_eq!(open(&disk).1.lost_before, Some(lost));
}

#[test]
fn a_roll_that_was_not_finished_is_taken_back() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let fill = |log: &Log| {
        append(log, [entry(1, 0), entry(1, 1)]);
        append(log, [entry_of(1, 2, 3500)]);
        enqueue(log, [entry_of(1, 3, 1000), entry(1, 4)]);
    };
    fill(&log);
    log.write_gathered().unwrap();
    let (path, length) = (segment(3), disk.files()[&segment(3)].len());
    let durable = [entry(1, 0), entry(1, 1), entry_of(1, 2, 3500)];
    // A new segment with only its name, and one whose first sectors are missing.
    for kept in [
        length..length,
        512..length,
        1024..length,
        0..512,
        0..1024,
        0..100,
    ] {
        let mut files = disk.files();
        let content = files.get_mut(&path).unwrap();
        content[..kept.start].fill(0);
        content[kept.end..].fill(0);
        let disk = SimDisk::with_files(&files);
        let (log, recovery) = open(&disk);
        assert_eq!(all(&log), durable, "{kept:?}");
        assert_eq!(recovery.cut.is_some(), kept != (length..length), "{kept:?}");
        append(&log, [entry_of(2, 3, 2000)]);
        let (log, recovery) = open(&disk);
        assert_eq!((recovery.cut, all(&log).len()), (None, 4), "{kept:?}");
    }
    // A new segment without its name.
    let mut files = disk.files();
    files.remove(&path);
    assert_eq!(all(&open(&SimDisk::with_files(&files)).0), durable);
}

#[test]
fn a_second_cut_at_the_same_place_keeps_both_copies() {
    let (original, start, _) = with_a_batch_in_flight();
    let disk = SimDisk::with_files(&original.files());
    disk.corrupt(&segment(2), start, |byte| byte ^ 1).unwrap();
    let first = open(&disk).1.cut.unwrap();
    let (log, _) = open(&disk);
    enqueue(&log, [entry(3, 2)]);
    log.write_gathered().unwrap();
    disk.corrupt(&segment(2), start + 50, |byte| byte ^ 1)
        .unwrap();
    disk.kill();
    let second = open(&disk).1.cut.unwrap();
    assert_eq!(first.offset, second.offset);
    assert_ne!(first.kept_copy, second.kept_copy);
    assert!(disk.files().contains_key(&first.kept_copy));
    assert!(disk.files().contains_key(&second.kept_copy));
}

#[test]
fn an_interrupted_repair_is_done_again() {
    let (original, start, _) = with_a_batch_in_flight();
    original
        .corrupt(&segment(2), start + 600, |byte| byte ^ 1)
        .unwrap();
    for operations in 0.. {
        let disk = SimDisk::with_files(&original.files());
        disk.cut_power_after(operations);
        let finished = try_open(&disk).is_ok() && !disk.power_is_off();
        disk.crash(operations);
        let (log, recovery) = open(&disk);
        assert!(recovery.must_catch_up, "power cut after {operations}");
        assert_eq!(
            all(&log),
            [entry(1, 0), entry(1, 1)],
            "power cut after {operations}"
        );
        if finished {
            assert!(operations > 4, "the power was cut at several places");
            return;
        }
    }
}

#[test]
fn a_payload_that_looks_like_a_later_batch_proves_nothing() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    // The bytes that the log would have had: a header that says that the next batch was durable.
    let fork = SimDisk::with_files(&disk.files());
    let (forked, _) = open(&fork);
    append(&forked, [entry(1, 1)]);
    append(&forked, [entry(1, 2)]);
    let offset = usize::try_from(batch_offsets(&fork, 2)[4]).unwrap();
    let header = fork.files()[&segment(2)][offset..][..BATCH_HEADER_LENGTH].to_vec();
    let payload: Vec<u8> = std::iter::repeat_n(b'x', 1000).chain(header).collect();
    let id = id(1, 1);
    let payload = Bytes::from(payload);
    enqueue(&log, [LogRecord { id, payload }]);
    log.write_gathered().unwrap();
    // The first sector of the batch was not kept, so its header is gone.
    let start = *batch_offsets(&disk, 2).iter().rev().nth(1).unwrap();
    for at in start..start.next_multiple_of(SECTOR_BYTES) {
        disk.corrupt(&segment(2), at, |_| 0).unwrap();
    }
    disk.kill();
    let (log, recovery) = open(&disk);
    assert_eq!(all(&log), [entry(1, 0)]);
    assert!(!recovery.cut.unwrap().complete_looking);
}
