//! Tests of checkpoints, on simulated and real disks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::disk::{Disk, RealDisk, SimDisk};

const CLUSTER: [u8; 16] = *b"the only cluster";

fn directory() -> &'static Path {
    Path::new("/data/checkpoints")
}

fn formatted() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_directory(directory()).unwrap();
    for ancestor in directory().ancestors() {
        disk.sync_directory(ancestor).unwrap();
    }
    disk
}

fn try_open(disk: &SimDisk) -> Result<(CheckpointStore, Loaded), CheckpointError> {
    CheckpointStore::open(Arc::new(disk.clone()), directory(), Some(CLUSTER))
}

fn open(disk: &SimDisk) -> (CheckpointStore, Loaded) {
    try_open(disk).unwrap()
}

fn id(index: u64) -> LogId {
    LogId {
        term: 2,
        leader: 1,
        index,
    }
}

fn header(index: u64) -> CheckpointHeader {
    CheckpointHeader {
        cluster_id: CLUSTER,
        last: id(index),
        meta: Bytes::from(format!("replica set at {index}")),
    }
}

fn chunks(index: u64) -> Vec<Bytes> {
    (1..4)
        .map(|chunk| Bytes::from(format!("chunk {chunk} of {index} ").repeat(20 * chunk)))
        .collect()
}

fn write(store: &CheckpointStore, index: u64) -> Result<CheckpointFile, CheckpointError> {
    let mut writer = store.begin(header(index))?;
    for chunk in chunks(index) {
        writer.write_chunk(&chunk)?;
    }
    writer.finish()
}

fn read(reader: &mut CheckpointReader) -> Vec<Bytes> {
    std::iter::from_fn(|| reader.next_chunk().unwrap()).collect()
}

fn path(index: u64) -> PathBuf {
    directory().join(format!("{index:020}-{:020}-1.checkpoint", 2))
}

/// Checks that the newest good checkpoint is this one, or that there is none.
fn check_newest(loaded: Loaded, index: Option<u64>) {
    let Some(mut reader) = loaded.reader else {
        assert_eq!(index, None);
        return;
    };
    assert_eq!(Some(reader.header().clone()), index.map(header));
    assert_eq!(Some(read(&mut reader)), index.map(chunks));
}

#[test]
fn a_new_directory_has_no_checkpoint() {
    let (store, loaded) = open(&formatted());
    assert!(loaded.reader.is_none() && loaded.skipped.is_empty());
    assert_eq!((store.list(), store.purge_bound()), (Vec::new(), None));
    assert!(store.read_newest().unwrap().is_none());
    store.check_covers(None).unwrap();
}

#[test]
fn a_finished_checkpoint_is_read_back_chunk_by_chunk() {
    let disk = formatted();
    let file = write(&open(&disk).0, 10).unwrap();
    assert_eq!((file.last, file.path), (id(10), path(10)));
    disk.crash(1);
    let (store, loaded) = open(&disk);
    check_newest(loaded, Some(10));
    let mut reader = store.read_newest().unwrap().unwrap();
    assert_eq!(read(&mut reader), chunks(10));
    assert!(reader.next_chunk().unwrap().is_none());
    reader.rewind();
    assert_eq!(read(&mut reader), chunks(10));
}

#[test]
fn a_checkpoint_of_a_real_disk_is_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let open =
        || CheckpointStore::open(Arc::new(RealDisk), directory.path(), Some(CLUSTER)).unwrap();
    let (store, _) = open();
    for index in [1, 2, 3] {
        write(&store, index).unwrap();
    }
    let (store, loaded) = open();
    check_newest(loaded, Some(3));
    assert_eq!(store.list().len(), 2);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn a_checkpoint_without_chunks_is_one() {
    let disk = formatted();
    open(&disk).0.begin(header(4)).unwrap().finish().unwrap();
    let mut reader = open(&disk).1.reader.unwrap();
    assert_eq!(
        (reader.header().last, reader.next_chunk().unwrap()),
        (id(4), None)
    );
}

#[test]
fn the_two_newest_are_kept_and_the_log_is_needed_from_the_older_on() {
    let disk = formatted();
    let (store, _) = open(&disk);
    write(&store, 10).unwrap();
    assert_eq!(
        store.purge_bound(),
        None,
        "with one checkpoint the whole log is still needed"
    );
    write(&store, 20).unwrap();
    assert_eq!(store.purge_bound(), Some(id(10)));
    write(&store, 30).unwrap();
    assert_eq!(store.purge_bound(), Some(id(20)));
    let kept: Vec<_> = store.list().into_iter().map(|file| file.path).collect();
    assert_eq!(kept, [path(30), path(20)]);
    assert_eq!(
        disk.files().into_keys().collect::<Vec<_>>(),
        [path(20), path(30)]
    );
    let (store, loaded) = open(&disk);
    assert_eq!(store.purge_bound(), Some(id(20)));
    check_newest(loaded, Some(30));
}

#[test]
fn a_checkpoint_of_the_same_position_replaces_the_one_that_is_there() {
    let disk = formatted();
    let (store, _) = open(&disk);
    write(&store, 10).unwrap();
    write(&store, 10).unwrap();
    assert_eq!((store.list().len(), store.purge_bound()), (1, None));
}

#[test]
fn a_reader_goes_on_when_its_checkpoint_is_superseded() {
    let disk = formatted();
    let (store, _) = open(&disk);
    write(&store, 10).unwrap();
    let mut reader = store.read_newest().unwrap().unwrap();
    (20..25).for_each(|index| drop(write(&store, index).unwrap()));
    assert_eq!(read(&mut reader), chunks(10));
}

#[test]
fn a_superseded_checkpoint_that_an_operator_has_removed_is_no_fault() {
    let disk = formatted();
    let (store, _) = open(&disk);
    (1..=2).for_each(|n| drop(write(&store, n * 10).unwrap()));
    disk.remove(&path(10)).unwrap();
    write(&store, 30).unwrap();
    assert_eq!(store.list().len(), 2);
    assert_eq!(disk.files().len(), 2);
}

#[test]
fn an_abandoned_checkpoint_leaves_nothing() {
    let disk = formatted();
    let (store, _) = open(&disk);
    let mut first = store.begin(header(10)).unwrap();
    let mut second = store.begin(header(10)).unwrap();
    first.write_chunk(b"one").unwrap();
    second.write_chunk(b"two").unwrap();
    assert_eq!(
        disk.files().len(),
        2,
        "two of one position do not disturb each other"
    );
    drop((first, second));
    assert!(disk.files().is_empty());
    std::mem::forget(store.begin(header(11)).unwrap());
    assert_eq!(disk.files().len(), 1);
    assert!(open(&disk).1.reader.is_none());
    assert!(
        disk.files().is_empty(),
        "what a dead process left is removed"
    );
}

#[test]
fn a_damaged_newest_one_is_skipped_reported_and_not_counted() {
    let disk = formatted();
    let (store, _) = open(&disk);
    (1..=3).for_each(|n| drop(write(&store, n * 10).unwrap()));
    disk.corrupt(&path(30), 200, |byte| byte ^ 4).unwrap();
    let (store, loaded) = open(&disk);
    assert_eq!(loaded.skipped.len(), 1);
    let message = loaded.skipped[0].to_string();
    assert!(
        message.contains("30-") && message.contains("is damaged at offset"),
        "{message}"
    );
    check_newest(loaded, Some(20));
    assert_eq!(store.purge_bound(), None);
    write(&store, 40).unwrap();
    assert_eq!(
        disk.files().into_keys().collect::<Vec<_>>(),
        [path(20), path(40)]
    );
    assert_eq!(store.purge_bound(), Some(id(20)));
}

// Guarantee: D-13
#[test]
fn one_that_was_put_aside_is_kept_alone_and_nothing_older_takes_its_place() {
    let disk = formatted();
    let (store, _) = open(&disk);
    for index in [10, 20] {
        write(&store, index).unwrap();
    }
    let aside = |index: u64| {
        let name = format!("{}.damaged", path(index).display());
        PathBuf::from(name)
    };
    let damaged = store.read_newest().unwrap().unwrap().file();
    assert!(store.put_aside(&damaged).unwrap());
    assert!(!store.put_aside(&damaged).unwrap(), "it is gone");
    assert_eq!(store.aside(), Some(aside(20)));
    assert!(store.awaits_another() && store.read_newest().unwrap().is_none());
    assert_eq!(store.purge_bound(), None);

    // A checkpoint that was begun before does not reach far enough.
    write(&store, 15).unwrap();
    assert!(store.awaits_another());
    // Another file of the same name is not the damaged one.
    write(&store, 20).unwrap();
    assert!(!store.awaits_another());
    assert!(!store.put_aside(&damaged).unwrap());

    disk.corrupt(&path(20), 20, |byte| byte ^ 1).unwrap();
    assert!(store.read_newest().is_err() && store.awaits_another());
    write(&store, 30).unwrap();
    disk.corrupt(&path(30), 20, |byte| byte ^ 1).unwrap();
    let (store, loaded) = open(&disk);
    assert_eq!(loaded.skipped.len(), 1);
    store.put_skipped_aside().unwrap();
    let names: Vec<_> = disk.files().into_keys().collect();
    assert_eq!(names, [path(15), aside(30)]);
    disk.remove(&aside(30)).unwrap();
    store.look_aside().unwrap();
    assert_eq!(store.aside(), None);
}

#[test]
fn a_purged_log_without_the_checkpoint_before_it_is_refused() {
    let disk = formatted();
    write(&open(&disk).0, 10).unwrap();
    let (store, _) = open(&disk);
    store.check_covers(Some(id(10))).unwrap();
    let error = store.check_covers(Some(id(11))).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the newest readable checkpoint ends at index 10"),
        "{error}"
    );
    disk.corrupt(&path(10), 0, |byte| byte ^ 1).unwrap();
    let (store, loaded) = open(&disk);
    assert!(loaded.reader.is_none() && loaded.skipped.len() == 1);
    store.check_covers(None).unwrap();
    let error = store.check_covers(Some(id(10))).unwrap_err();
    assert!(
        matches!(&error, CheckpointError::Gap { newest: None, .. }),
        "{error}"
    );
}

#[test]
fn a_checkpoint_of_another_cluster_is_refused_and_left_alone() {
    let disk = formatted();
    write(&open(&disk).0, 10).unwrap();
    let before = disk.files();
    let other = CheckpointStore::open(Arc::new(disk.clone()), directory(), Some([1; 16]));
    assert!(matches!(other, Err(CheckpointError::OtherCluster { .. })));
    assert_eq!(disk.files(), before);
    // A replica that does not know its cluster yet accepts the one in the file.
    let unknown = CheckpointStore::open(Arc::new(disk), directory(), None);
    assert!(unknown.unwrap().1.reader.is_some());
}

// Guarantee: D-06
#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let disk = formatted();
    write(&open(&disk).0, 10).unwrap();
    disk.corrupt(&path(10), 8, |_| 5).unwrap();
    disk.corrupt(&path(10), 12, |_| 5).unwrap();
    std::mem::forget(disk.create(&directory().join("x.tmp"), 3).unwrap());
    let before = disk.files();
    let error = try_open(&disk).unwrap_err();
    assert!(
        matches!(error, CheckpointError::Newer { found: 5, .. }),
        "{error}"
    );
    assert_eq!(disk.files(), before);
}

#[test]
fn chunks_and_metadata_have_limits() {
    let disk = formatted();
    let (store, _) = open(&disk);
    let long = CheckpointHeader {
        meta: vec![0; META_BYTES_MAX + 1].into(),
        ..header(1)
    };
    assert!(matches!(
        store.begin(long),
        Err(CheckpointError::BadLength { .. })
    ));
    let mut writer = store.begin(header(1)).unwrap();
    for bad in [vec![], vec![0; CHUNK_BYTES_MAX + 1]] {
        assert!(matches!(
            writer.write_chunk(&bad),
            Err(CheckpointError::BadLength { .. })
        ));
    }
    writer.write_chunk(&vec![7; CHUNK_BYTES_MAX]).unwrap();
    writer.finish().unwrap();
    let mut reader = open(&disk).1.reader.unwrap();
    assert_eq!(read(&mut reader), [vec![7; CHUNK_BYTES_MAX]]);
}

#[test]
fn a_long_checkpoint_is_synced_in_steps() {
    let disk = formatted();
    let (store, _) = open(&disk);
    let mut writer = store.begin(header(1)).unwrap();
    let chunk = vec![1; CHUNK_BYTES_TARGET];
    let mut unsynced_max = 0;
    for _ in 0..20 {
        writer.write_chunk(&chunk).unwrap();
        unsynced_max = unsynced_max.max(disk.unsynced_bytes());
    }
    writer.finish().unwrap();
    assert!(unsynced_max < 6 << 20, "{unsynced_max}");
    assert!((5..=8).contains(&disk.counts().file_syncs));
}

#[test]
fn a_failed_write_or_sync_spoils_the_checkpoint_and_nothing_else() {
    let disk = formatted();
    let (store, _) = open(&disk);
    write(&store, 10).unwrap();
    disk.fail_sync_after(0);
    assert!(matches!(write(&store, 20), Err(CheckpointError::Io(_))));
    assert_eq!(disk.files().into_keys().collect::<Vec<_>>(), [path(10)]);
    disk.set_capacity(Some(disk.files()[&path(10)].len() as u64 + 200));
    let mut writer = store.begin(header(30)).unwrap();
    assert!(matches!(
        writer.write_chunk(&[1; 500]),
        Err(CheckpointError::Io(_))
    ));
    assert!(matches!(
        writer.write_chunk(&[1]),
        Err(CheckpointError::Abandoned { .. })
    ));
    assert!(matches!(
        writer.finish(),
        Err(CheckpointError::Abandoned { .. })
    ));
    disk.set_capacity(None);
    write(&store, 40).unwrap();
    check_newest(open(&disk).1, Some(40));
}

#[test]
fn a_power_cut_at_any_operation_leaves_the_finished_checkpoints() {
    for seed in 0..20 {
        for operations in 0.. {
            let disk = formatted();
            let (store, _) = open(&disk);
            write(&store, 10).unwrap();
            write(&store, 20).unwrap();
            disk.cut_power_after(operations);
            let third = write(&store, 30);
            let undisturbed = !disk.power_is_off();
            disk.crash(seed);
            let (store, loaded) = open(&disk);
            assert!(
                loaded.skipped.is_empty(),
                "{operations} operations, seed {seed}"
            );
            let newest = loaded.reader.as_ref().unwrap().header().last.index;
            assert!(
                newest == 30 || (newest == 20 && third.is_err()),
                "{operations}, {seed}"
            );
            assert!(store.list().len() >= 2);
            check_newest(loaded, Some(newest));
            if undisturbed {
                assert!(operations > 15);
                break;
            }
        }
    }
}

#[test]
fn any_damaged_byte_is_noticed_before_anything_is_used() {
    let original = formatted();
    let (store, _) = open(&original);
    write(&store, 10).unwrap();
    write(&store, 20).unwrap();
    let files = original.files();
    assert!(files[&path(20)].len() > 1500);
    for (offset, byte) in files[&path(20)].iter().enumerate() {
        for damaged in [byte ^ 1, 0x00, 0xFF] {
            let disk = SimDisk::with_files(&files);
            disk.corrupt(&path(20), offset as u64, |_| damaged).unwrap();
            match try_open(&disk) {
                Ok((_, loaded)) => {
                    let whole = damaged == *byte;
                    assert_eq!(loaded.skipped.is_empty(), whole, "offset {offset}");
                    check_newest(loaded, Some(if whole { 20 } else { 10 }));
                }
                Err(CheckpointError::Newer { .. }) => assert!((12..16).contains(&offset)),
                Err(other) => panic!("offset {offset}: {other}"),
            }
        }
    }
}

#[test]
fn a_damaged_byte_met_while_sending_is_never_handed_out() {
    let original = formatted();
    write(&open(&original).0, 20).unwrap();
    let files = original.files();
    for offset in 0..files[&path(20)].len() {
        let disk = SimDisk::with_files(&files);
        let (store, _) = open(&disk);
        disk.corrupt(&path(20), offset as u64, |byte| byte ^ 1)
            .unwrap();
        let Ok(Some(mut reader)) = store.read_newest() else {
            continue;
        };
        let mut read = Vec::new();
        let ended = loop {
            match reader.next_chunk() {
                Ok(Some(chunk)) => read.push(chunk),
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        assert!(!ended, "offset {offset}");
        assert_eq!(read, chunks(20)[..read.len()]);
    }
}

#[test]
fn any_shortened_file_is_noticed() {
    let original = formatted();
    write(&open(&original).0, 10).unwrap();
    let content = original.files()[&path(10)].clone();
    for length in 0..content.len() {
        let files = BTreeMap::from([(path(10), content[..length].to_vec())]);
        let (_, loaded) = open(&SimDisk::with_files(&files));
        assert!(
            loaded.reader.is_none() && loaded.skipped.len() == 1,
            "{length} bytes"
        );
    }
    let longer = [content.as_slice(), &[0]].concat();
    let (_, loaded) = open(&SimDisk::with_files(&BTreeMap::from([(path(10), longer)])));
    assert!(loaded.reader.is_none());
}

#[test]
fn exchanged_doubled_and_dropped_chunks_are_noticed() {
    let disk = formatted();
    let mut writer = open(&disk).0.begin(header(10)).unwrap();
    for chunk in [b"aaaaaaaa", b"bbbbbbbb", b"cccccccc"] {
        writer.write_chunk(chunk).unwrap();
    }
    writer.finish().unwrap();
    let content = disk.files()[&path(10)].clone();
    // Each chunk has 20 bytes, and the trailer 28.
    let at = content.len() - 28 - 3 * 20;
    let (head, rest) = content.split_at(at);
    let (frames, trailer) = rest.split_at(60);
    let frames: Vec<_> = frames.chunks(20).collect();
    for order in [
        vec![0, 2, 1],
        vec![0, 1, 1, 2],
        vec![0, 2],
        vec![0, 1],
        vec![],
    ] {
        let body: Vec<u8> = order
            .iter()
            .flat_map(|n| frames[*n].iter().copied())
            .collect();
        let content = [head, &body, trailer].concat();
        let (_, loaded) = open(&SimDisk::with_files(&BTreeMap::from([(path(10), content)])));
        assert!(loaded.reader.is_none(), "{order:?}");
    }
}

proptest! {
    #![proptest_config(crate::cases::config(1000))]

    #[test]
    fn arbitrary_bytes_as_a_checkpoint_never_panic(
        content in prop::collection::vec(any::<u8>(), 0..200),
        begins_well in any::<bool>(),
    ) {
        let content = if begins_well { [b"SYNODCKP\x01\0\0\0\x01\0\0\0", content.as_slice()].concat() } else { content };
        if let Ok((_, loaded)) = try_open(&SimDisk::with_files(&BTreeMap::from([(path(10), content)]))) {
            prop_assert!(loaded.reader.is_none());
        }
    }

    #[test]
    fn any_chunks_are_read_back(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..3000), 0..8)) {
        let disk = formatted();
        let mut writer = open(&disk).0.begin(header(1)).unwrap();
        for chunk in &chunks {
            writer.write_chunk(chunk).unwrap();
        }
        writer.finish().unwrap();
        disk.limit_transfers(Some(13));
        prop_assert_eq!(read(&mut open(&disk).1.reader.unwrap()), chunks);
    }
}
