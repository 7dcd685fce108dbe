//! Damaged files: acknowledged entries are read back as they were, or the log refuses.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::torn::batch_offsets;
use super::*;
use crate::wal::layout::{
    BATCH_HEADER_LENGTH, BatchHeader, BatchPosition, Record, SEGMENT_HEADER_LENGTH, SegmentHeader,
    Summary,
};

/// A log of several segments with a record of every kind, not sealed.
fn busy_log() -> SimDisk {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, (0..20).map(|index| entry_of(1, index, 150)));
    append(&log, [entry(1, 20)]);
    log.truncate_after(Some(15)).unwrap();
    append(&log, [entry(2, 16), entry_of(2, 17, 900)]);
    log.save_committed(id(1, 12)).unwrap();
    append(&log, [entry_of(3, 18, 600)]);
    log.purge(id(1, 5)).unwrap();
    append(&log, [entry_of(3, 19, 2000)]);
    append(&log, [entry_of(3, 20, 100), entry(3, 21)]);
    disk
}

fn sealed_log() -> SimDisk {
    let disk = busy_log();
    open(&disk).0.seal().unwrap();
    disk
}

/// Damages every byte in three ways and passes each damaged disk to `check`.
fn with_every_byte_damaged(original: &SimDisk, mut check: impl FnMut(&SimDisk, String)) -> u32 {
    let files = original.files();
    let total: usize = files.values().map(Vec::len).sum();
    assert!((8_000..65_536).contains(&total), "{total} bytes");
    let mut cases = 0;
    for (path, content) in &files {
        for (offset, byte) in content.iter().enumerate() {
            for damaged in [byte ^ 1, 0x00, 0xFF] {
                if damaged == *byte {
                    continue;
                }
                let disk = SimDisk::with_files(&files);
                disk.corrupt(path, offset as u64, |_| damaged).unwrap();
                check(
                    &disk,
                    format!("{} at {offset} is {damaged:#x}", path.display()),
                );
                cases += 1;
            }
        }
    }
    cases
}

// Guarantee: D-01
#[test]
fn any_damaged_byte_of_a_sealed_log_is_refused_or_of_no_consequence() {
    let original = sealed_log();
    let (log, recovery) = open(&original);
    let (entries, purged) = (all(&log), recovery.purged);
    assert_eq!((recovery.last, purged), (Some(id(3, 21)), Some(id(1, 5))));
    let mut refused = 0;
    let cases = with_every_byte_damaged(&original, |disk, case| {
        let before = disk.files();
        match try_open(disk) {
            Ok((log, recovery)) => {
                assert_eq!(all(&log), entries, "{case}");
                assert_eq!(
                    (recovery.last, recovery.purged),
                    (Some(id(3, 21)), purged),
                    "{case}"
                );
            }
            Err(OpenError::Damaged { .. } | OpenError::Newer { .. }) => {
                assert_eq!(disk.files(), before, "{case}: files untouched");
                refused += 1;
            }
            Err(other) => panic!("{case}: {other}"),
        }
    });
    assert!(refused > cases / 3, "{refused} of {cases}");
}

// Guarantee: D-01
#[test]
fn any_damaged_byte_of_a_log_that_was_killed_is_refused_or_cut_off_and_reported() {
    // The last batch is durable, and nothing on disk proves it.
    let original = busy_log();
    let (log, _) = open(&original);
    enqueue(&log, [entry(3, 22)]);
    log.write_gathered().unwrap();
    enqueue(&log, [entry(3, 23)]);
    log.sync_written().unwrap();
    original.kill();
    let entries = all(&open(&original).0);
    assert_eq!(entries.last(), Some(&entry(3, 22)));
    let mut cuts = 0;
    with_every_byte_damaged(&original, |disk, case| match try_open(disk) {
        Ok((log, recovery)) => {
            let kept = all(&log);
            if kept != entries {
                assert_eq!(
                    kept,
                    entries[..entries.len() - 1],
                    "{case}: only the last batch"
                );
                let cut = recovery
                    .cut
                    .unwrap_or_else(|| panic!("{case}: cut without a word"));
                assert!(cut.complete_looking, "{case}");
                cuts += 1;
            }
        }
        Err(OpenError::Damaged { .. } | OpenError::Newer { .. }) => {}
        Err(other) => panic!("{case}: {other}"),
    });
    assert!(cuts > 100, "{cuts}");
}

#[test]
fn a_refusal_names_the_file_and_the_offset_and_what_to_do() {
    let disk = sealed_log();
    disk.corrupt(&segment(2), 1000, |byte| !byte).unwrap();
    let error = try_open(&disk).unwrap_err().to_string();
    for part in [
        "00000000000000000002.wal is damaged at offset ",
        "Remove this replica",
        "durable",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_sealed_log_proves_its_end_after_every_crash() {
    for seed in 0..20 {
        let disk = formatted();
        let (log, _) = open(&disk);
        append(&log, [entry(1, 0)]);
        log.seal().unwrap();
        disk.crash(seed);
        assert_eq!(all(&open(&disk).0), [entry(1, 0)]);
        let damaged = SEGMENT_HEADER_LENGTH as u64 + 80;
        disk.corrupt(&segment(2), damaged, |byte| byte ^ 1).unwrap();
        assert!(
            matches!(try_open(&disk), Err(OpenError::Damaged { .. })),
            "seed {seed}"
        );
    }
}

#[test]
fn a_seal_alone_proves_a_last_batch_durable_whose_header_is_not_readable() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    append(&log, [entry(1, 1)]);
    log.seal().unwrap();
    // The log was not opened again, so one mark follows the batch, and proves it durable.
    let offsets = batch_offsets(&disk, 2);
    let [last, mark, end] = offsets[offsets.len() - 3..] else {
        panic!("{offsets:?}")
    };
    let header = BATCH_HEADER_LENGTH as u64;
    assert!(mark - last > header && end - mark == header, "{offsets:?}");
    // The header of the batch has its length, so only the mark can prove it.
    for damaged in last..last + header {
        let disk = SimDisk::with_files(&disk.files());
        disk.corrupt(&segment(2), damaged, |byte| byte ^ 1).unwrap();
        let before = disk.files();
        match try_open(&disk) {
            Err(OpenError::Damaged { offset, .. }) => assert_eq!(offset, last, "at {damaged}"),
            other => panic!("at {damaged}: {other:?}"),
        }
        assert_eq!(disk.files(), before, "at {damaged}: files untouched");
    }
}

#[test]
fn anything_behind_a_broken_batch_of_known_length_shows_that_it_was_durable() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    append(&log, [entry(1, 1)]);
    let end = disk.files()[&segment(2)]
        .iter()
        .rposition(|byte| *byte != 0)
        .unwrap() as u64;
    // A payload, and the mark after its batch: no readable header is left after it.
    disk.corrupt(&segment(2), end - 60, |byte| byte ^ 1)
        .unwrap();
    disk.corrupt(&segment(2), end - 20, |byte| byte ^ 1)
        .unwrap();
    let error = try_open(&disk).unwrap_err();
    assert!(
        error.to_string().contains("were written after this batch"),
        "{error}"
    );
}

#[test]
fn a_missing_segment_is_refused() {
    let original = sealed_log();
    let files = original.files();
    let numbers: Vec<_> = (1..)
        .take_while(|number| files.contains_key(&segment(*number)))
        .collect();
    assert!(numbers.len() >= 4);
    // Without the last segment, the rest is a log that ends earlier: nothing on disk shows otherwise.
    for number in &numbers[..numbers.len() - 1] {
        let mut files = files.clone();
        files.remove(&segment(*number));
        let disk = SimDisk::with_files(&files);
        match try_open(&disk) {
            Err(OpenError::MissingSegment { file }) => assert_eq!(file, segment(*number)),
            // The first segment holds no entry, so the log is whole without it.
            Ok((log, _)) if *number == 1 => assert_eq!(all(&log), all(&open(&original).0)),
            other => panic!("segment {number}: {other:?}"),
        }
        assert_eq!(disk.files(), files);
    }
}

#[test]
fn a_log_that_lost_all_its_segments_is_not_taken_for_a_new_one() {
    let disk = SimDisk::new();
    disk.create_directory(directory()).unwrap();
    assert!(matches!(try_open(&disk), Err(OpenError::Missing { .. })));
}

#[test]
fn a_segment_of_another_directory_is_refused() {
    let disk = sealed_log();
    let other = LogConfig {
        directory_id: [7; 16],
        ..config()
    };
    let before = disk.files();
    let refused = Log::open(Arc::new(disk.clone()), directory(), other);
    assert!(matches!(refused, Err(OpenError::OtherDirectory { .. })));
    assert_eq!(disk.files(), before);
}

#[test]
fn a_segment_under_the_name_of_another_is_refused() {
    let disk = sealed_log();
    let mut files = disk.files();
    let third = files[&segment(3)].clone();
    files.insert(segment(2), third);
    let disk = SimDisk::with_files(&files);
    assert!(matches!(try_open(&disk), Err(OpenError::Damaged { .. })));
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let disk = sealed_log();
    let number = u64::try_from(disk.files().len()).unwrap();
    // The version that readers need, in the header of the last segment.
    disk.corrupt(&segment(number), 12, |_| 9).unwrap();
    disk.corrupt(&segment(number), 8, |_| 9).unwrap();
    let before = disk.files();
    let error = try_open(&disk).unwrap_err();
    assert!(
        matches!(error, OpenError::Newer { found: 9, .. }),
        "{error}"
    );
    assert_eq!(disk.files(), before);
}

#[test]
fn an_unknown_kind_of_record_is_refused_rather_than_cut() {
    // Two values of one place in a record: first as written, then with another kind and a matching checksum, as a newer
    // build might have written it.
    let disk = formatted();
    let mut content = Vec::new();
    let before = Summary::default();
    let (first_sequence, chain, number) = (1, first_chain(&disk), 2);
    let header = SegmentHeader {
        directory_id: DIRECTORY_ID,
        number,
        first_sequence,
        chain,
        before,
    };
    let chain = header.encode(&mut content);
    let body_length = 12;
    let batch = BatchHeader {
        body_length,
        record_count: 1,
        sequence: 1,
        durable: 0,
        chain,
    };
    let place = BatchPosition {
        directory_id: DIRECTORY_ID,
        segment: 2,
        offset: content.len() as u64,
    };
    let chain = batch.encode(&place, &mut content);
    let prefix = [0, 0, 0, 0, 77, 0, 0, 0];
    content.extend(prefix);
    content.extend(crc32c::crc32c_append(chain, &prefix).to_le_bytes());
    content.resize(4096, 0);
    let mut files = disk.files();
    files.insert(segment(2), content);
    let error = try_open(&SimDisk::with_files(&files)).unwrap_err();
    assert!(
        matches!(&error, OpenError::Damaged { what, .. } if !what.is_empty()),
        "{error}"
    );
}

/// The chain at the end of the segment that formatting writes.
fn first_chain(disk: &SimDisk) -> u32 {
    SegmentHeader::decode(&disk.files()[&segment(1)]).unwrap().1
}

fn disk_with(content: Vec<u8>) -> SimDisk {
    let mut files = formatted().files();
    files.insert(segment(2), content);
    SimDisk::with_files(&files)
}

/// Opening must return without a panic; if it succeeds, the log must work.
fn check_no_panic(disk: &SimDisk) {
    if let Ok((log, recovery)) = try_open(disk) {
        let entries = all(&log);
        let next = log.last_log_id().map_or(0, |last| last.index + 1);
        let term = log.last_log_id().map_or(0, |last| last.term);
        assert_eq!(recovery.last, log.last_log_id());
        if next > LogId::INDEX_MAX {
            return;
        }
        append(&log, [entry(term, next)]);
        let (log, _) = open(disk);
        assert_eq!(all(&log).len(), entries.len() + 1);
    }
}

fn any_id() -> impl Strategy<Value = LogId> {
    let small = 0..4_u64;
    let index = prop_oneof![8 => 0..6_u64, 1 => Just(LogId::INDEX_MAX), 1 => any::<u64>()];
    (small, 0..3_u64, index).prop_map(|(term, leader, index)| LogId {
        term,
        leader,
        index,
    })
}

fn any_record() -> impl Strategy<Value = Record> {
    prop_oneof![
        4 => (any_id(), prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(id, payload)| Record::Entry(id, payload.into())),
        1 => prop::option::of(any_id()).prop_map(Record::TruncateAfter),
        1 => any_id().prop_map(Record::Purged),
        1 => any_id().prop_map(Record::Committed),
    ]
}

/// A segment in which every checksum is right, but anything else may be wrong.
fn any_well_formed_segment() -> impl Strategy<Value = Vec<u8>> {
    let summary = (
        prop::option::of(any_id()),
        prop::option::of(any_id()),
        prop::option::of(any_id()),
    );
    let plausible = prop_oneof![9 => Just(true), 1 => Just(false)];
    let batches =
        prop::collection::vec((prop::collection::vec(any_record(), 0..5), plausible), 0..5);
    (summary, batches, prop::bool::weighted(0.8), any::<u64>()).prop_map(
        |((purged, last, committed), batches, continues, odd)| {
            let mut content = Vec::new();
            let before = Summary {
                purged,
                last,
                committed,
            };
            let before = if continues {
                Summary::default()
            } else {
                before
            };
            let mut header = SegmentHeader {
                directory_id: DIRECTORY_ID,
                number: 2,
                first_sequence: if continues { 1 } else { odd },
                chain: if continues {
                    first_chain(&formatted())
                } else {
                    0
                },
                before,
            };
            header.number = if odd % 10 == 0 { odd } else { 2 };
            let mut chain = header.encode(&mut content);
            for (sequence, (records, plausible)) in (1..).zip(batches) {
                let place = BatchPosition {
                    directory_id: DIRECTORY_ID,
                    segment: 2,
                    offset: content.len() as u64,
                };
                let body: usize = records.iter().map(Record::length).sum();
                let batch = BatchHeader {
                    body_length: u32::try_from(body).unwrap()
                        + if plausible { 0 } else { u32::MAX / 2 },
                    record_count: u32::try_from(records.len()).unwrap(),
                    sequence,
                    durable: if plausible { sequence - 1 } else { odd },
                    chain,
                };
                chain = batch.encode(&place, &mut content);
                for record in records {
                    chain = record.encode(chain, &mut content);
                }
            }
            content.resize(content.len().max(4096), 0);
            content
        },
    )
}

proptest! {
    #![proptest_config(crate::cases::config(2000))]

    #[test]
    fn arbitrary_bytes_as_a_segment_never_panic(content in prop::collection::vec(any::<u8>(), 0..600)) {
        check_no_panic(&disk_with(content));
    }

    #[test]
    fn well_formed_nonsense_never_panics(content in any_well_formed_segment()) {
        check_no_panic(&disk_with(content.clone()));
        // Without the segment before it, only its header tells what came before.
        let mut files = BTreeMap::new();
        files.insert(segment(2), content);
        check_no_panic(&SimDisk::with_files(&files));
    }

    #[test]
    fn many_damaged_bytes_never_panic_and_never_change_an_entry(
        damage in prop::collection::vec((0..4_usize, 0..4096_u64, any::<u8>()), 1..40),
    ) {
        let disk = sealed_log();
        let entries = all(&open(&disk).0);
        for (file, offset, byte) in damage {
            // A shorter file has no such byte.
            drop(disk.corrupt(&segment(file as u64 + 1), offset, |_| byte));
        }
        if let Ok((log, _)) = try_open(&disk) {
            for entry in all(&log) {
                prop_assert!(entries.contains(&entry));
            }
        }
    }
}

#[test]
fn the_header_of_a_segment_is_as_long_as_documented() {
    let content = &formatted().files()[&segment(1)];
    assert_eq!(content.len(), SEGMENT_HEADER_LENGTH);
}
