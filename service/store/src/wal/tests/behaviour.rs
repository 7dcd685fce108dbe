//! What a log does when nothing fails, and which calls it refuses.

use std::io;

use super::*;
use crate::wal::LogError;

#[test]
fn a_new_log_is_empty() {
    let disk = formatted();
    let (log, recovery) = open(&disk);
    let expected = Recovery {
        last: None,
        purged: None,
        committed: None,
        cut: None,
        must_catch_up: false,
        lost_before: None,
    };
    assert_eq!(recovery, expected);
    assert_eq!(
        (log.last_log_id(), log.purged(), log.committed()),
        (None, None, None)
    );
    assert_eq!(all(&log), []);
}

#[test]
fn entries_are_readable_before_they_are_durable() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let outcome = enqueue(&log, [entry(1, 0), entry(1, 1)]);
    assert_eq!(all(&log), [entry(1, 0), entry(1, 1)]);
    assert_eq!(log.last_log_id(), Some(id(1, 1)));
    assert_eq!(outcome.get(), None);
    assert!(log.flush().unwrap());
    outcome.expect_ok();
    assert!(!log.flush().unwrap());
}

#[test]
fn durable_entries_are_there_after_reopening() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, (0..10).map(|index| entry(1, index)));
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.last, Some(id(1, 9)));
    assert_eq!(recovery.cut, None);
    assert_eq!(
        all(&log),
        (0..10).map(|index| entry(1, index)).collect::<Vec<_>>()
    );
}

#[test]
fn enqueued_batches_share_one_write_and_one_sync() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    let before = disk.counts();
    let outcomes: Vec<_> = (1..=20)
        .map(|index| enqueue(&log, [entry(1, index)]))
        .collect();
    log.flush().unwrap();
    let after = disk.counts();
    outcomes.iter().for_each(Outcome::expect_ok);
    assert_eq!(after.file_syncs - before.file_syncs, 1);
    assert_eq!(after.directory_syncs, before.directory_syncs);
    // One write for the batch, and one, not synced, for the mark after it.
    assert_eq!(after.writes - before.writes, 2);
}

#[test]
fn callbacks_come_in_the_order_of_the_calls() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let order = Arc::new(Mutex::new(Vec::new()));
    for index in 0..5 {
        let order = Arc::clone(&order);
        let done = Box::new(move |_: io::Result<()>| order.lock().unwrap().push(index));
        log.enqueue_append(vec![entry(1, index)], done).unwrap();
    }
    log.flush().unwrap();
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn an_append_of_nothing_tells_when_everything_before_is_durable() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let first = enqueue(&log, [entry(1, 0)]);
    let barrier = enqueue(&log, []);
    assert_eq!(barrier.get(), None);
    log.flush().unwrap();
    first.expect_ok();
    barrier.expect_ok();
    let syncs = disk.counts().file_syncs;
    let alone = enqueue(&log, []);
    log.flush().unwrap();
    alone.expect_ok();
    assert_eq!(disk.counts().file_syncs, syncs);
}

#[test]
fn a_full_segment_is_followed_by_another() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let entries: Vec<_> = (0..60).map(|index| entry_of(1, index, 300)).collect();
    entries
        .iter()
        .for_each(|entry| append(&log, [entry.clone()]));
    assert!(disk.files().contains_key(&segment(5)));
    assert_eq!(all(&log), entries);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.cut, None);
    assert_eq!(all(&log), entries);
    append(&log, [entry(1, 60)]);
    let (log, _) = open(&disk);
    assert_eq!(log.last_log_id(), Some(id(1, 60)));
}

#[test]
fn a_batch_longer_than_a_segment_gets_a_longer_segment() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0), entry_of(1, 1, 20_000)]);
    append(&log, [entry(1, 2)]);
    let (log, _) = open(&disk);
    assert_eq!(
        all(&log),
        [entry(1, 0), entry_of(1, 1, 20_000), entry(1, 2)]
    );
}

#[test]
fn a_truncated_end_is_replaced_by_what_is_appended() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, (0..10).map(|index| entry(1, index)));
    log.truncate_after(Some(4)).unwrap();
    assert_eq!(log.last_log_id(), Some(id(1, 4)));
    append(&log, (5..7).map(|index| entry(2, index)));
    let expected: Vec<_> = (0..5)
        .map(|index| entry(1, index))
        .chain((5..7).map(|index| entry(2, index)))
        .collect();
    assert_eq!(all(&log), expected);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.last, Some(id(2, 6)));
    assert_eq!(all(&log), expected);
    log.truncate_after(None).unwrap();
    append(&log, [entry(3, 0)]);
    assert_eq!(all(&open(&disk).0), [entry(3, 0)]);
}

#[test]
fn entries_enqueued_or_replaced_while_a_write_is_in_flight_are_read_without_any_cache() {
    let disk = formatted();
    let uncached = LogConfig {
        cache_bytes_max: 0,
        ..config()
    };
    let (log, _) = Log::open(Arc::new(disk.clone()), directory(), uncached).unwrap();
    enqueue(&log, [entry(1, 0), entry(1, 1)]);
    log.write_gathered().unwrap();
    log.truncate_after(Some(0)).unwrap();
    enqueue(&log, [entry(2, 1), entry(2, 2)]);
    let expected = [entry(1, 0), entry(2, 1), entry(2, 2)];
    assert_eq!(all(&log), expected);
    log.sync_written().unwrap();
    assert_eq!(all(&log), expected);
    assert!(
        log.status().cached_bytes > 0,
        "what is not written can only be in memory"
    );
    log.flush().unwrap();
    assert_eq!(all(&log), expected);
    assert_eq!(log.status().cached_bytes, 0);
    assert_eq!(all(&open(&disk).0), expected);
}

#[test]
fn a_purge_hides_entries_at_once_and_removes_segments_once_it_is_durable() {
    let disk = formatted();
    let (log, _) = open(&disk);
    (0..60).for_each(|index| append(&log, [entry_of(1, index, 300)]));
    log.purge(id(1, 40)).unwrap();
    assert_eq!(all(&log).first().map(|entry| entry.id), Some(id(1, 41)));
    assert_eq!(log.log_id(40), Some(id(1, 40)));
    assert_eq!(log.log_id(39), None);
    log.housekeep().unwrap();
    assert!(
        disk.files().contains_key(&segment(1)),
        "the purge is not durable yet"
    );
    log.flush().unwrap();
    log.housekeep().unwrap();
    assert!(!disk.files().contains_key(&segment(1)));
    assert!(!disk.files().contains_key(&segment(2)));
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.purged, Some(id(1, 40)));
    assert_eq!(
        all(&log),
        (41..60)
            .map(|index| entry_of(1, index, 300))
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_purge_beyond_the_end_moves_the_end() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    log.purge(id(3, 100)).unwrap();
    assert_eq!(log.last_log_id(), Some(id(3, 100)));
    assert!(matches!(
        log.enqueue_append(vec![entry(3, 1)], Outcome::default().done()),
        Err(LogError::OutOfOrder { expected: 101, .. })
    ));
    append(&log, [entry(3, 101)]);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.purged, Some(id(3, 100)));
    assert_eq!(all(&log), [entry(3, 101)]);
}

#[test]
fn the_commit_rides_along_and_causes_no_write() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    let before = disk.counts();
    log.save_committed(id(1, 0)).unwrap();
    assert!(!log.flush().unwrap());
    assert_eq!(disk.counts(), before);
    assert_eq!(log.committed(), Some(id(1, 0)));
    append(&log, [entry(1, 1)]);
    let (_, recovery) = open(&disk);
    assert_eq!(recovery.committed, Some(id(1, 0)));
}

#[test]
fn a_clean_stop_writes_the_commit() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    log.save_committed(id(1, 0)).unwrap();
    log.seal().unwrap();
    log.seal().unwrap();
    disk.crash(5);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.committed, Some(id(1, 0)));
    append(&log, [entry(1, 1)]);
}

#[test]
fn reads_are_capped_by_bytes_but_return_at_least_one_entry() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, (0..10).map(|index| entry_of(1, index, 100)));
    for log in [log, open(&disk).0] {
        assert_eq!(log.entries(2..9, 250).unwrap().len(), 2);
        assert_eq!(log.entries(2..9, 300).unwrap().len(), 3);
        assert_eq!(log.entries(2..9, 0).unwrap(), [entry_of(1, 2, 100)]);
        assert_eq!(log.entries(20..30, 1000).unwrap(), []);
        assert_eq!(log.entries(9..9, 1000).unwrap(), []);
    }
}

#[test]
fn entries_that_left_the_cache_are_read_from_disk() {
    let disk = formatted();
    let small = LogConfig {
        cache_bytes_max: 500,
        ..config()
    };
    let (log, _) = Log::open(Arc::new(disk.clone()), directory(), small).unwrap();
    let entries: Vec<_> = (0..50).map(|index| entry_of(1, index, 100)).collect();
    entries
        .iter()
        .for_each(|entry| append(&log, [entry.clone()]));
    assert_eq!(all(&log), entries);
    for index in 0..50 {
        let alone = log.entries(index..index + 1, 1000).unwrap();
        assert_eq!(alone, entries[usize::try_from(index).unwrap()..][..1]);
    }
    disk.limit_transfers(Some(7));
    assert_eq!(all(&log), entries);
}

#[test]
fn damage_met_by_a_read_is_named() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry_of(1, 0, 100), entry_of(1, 1, 100)]);
    let (log, _) = {
        drop(log);
        open(&disk)
    };
    disk.corrupt(&segment(2), 400, |byte| byte ^ 1).unwrap();
    assert_eq!(log.entries(0..1, 1000).unwrap(), [entry_of(1, 0, 100)]);
    let error = log.entries(0..2, 1000).unwrap_err();
    assert!(
        matches!(&error, LogError::Damaged { file, .. } if *file == segment(2)),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("00000000000000000002.wal is damaged at offset"),
        "{error}"
    );
}

#[test]
fn holes_and_terms_that_go_back_are_refused_and_change_nothing() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(2, 0), entry(2, 1)]);
    for bad in [entry(2, 1), entry(2, 3), entry(1, 2)] {
        let outcome = Outcome::default();
        let error = log.enqueue_append(vec![bad], outcome.done()).unwrap_err();
        assert!(
            matches!(
                error,
                LogError::OutOfOrder {
                    expected: 2,
                    term: 2,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(outcome.get(), None);
    }
    assert_eq!(all(&log), [entry(2, 0), entry(2, 1)]);
    assert!(!log.flush().unwrap());
}

#[test]
fn impossible_indexes_are_refused_before_they_are_written() {
    let disk = formatted();
    let (log, _) = open(&disk);
    for index in [LogId::INDEX_MAX + 1, u64::MAX] {
        let error = log.purge(id(1, index)).unwrap_err();
        assert!(matches!(error, LogError::ImpossibleIndex { .. }), "{error}");
        assert!(log.save_committed(id(1, index)).is_err());
    }
    log.purge(id(1, LogId::INDEX_MAX - 10)).unwrap();
    append(&log, [entry(1, LogId::INDEX_MAX - 9)]);
    assert_eq!(all(&open(&disk).0), [entry(1, LogId::INDEX_MAX - 9)]);
}

#[test]
fn what_is_purged_or_committed_or_absent_cannot_be_truncated() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, (0..10).map(|index| entry(1, index)));
    log.purge(id(1, 3)).unwrap();
    log.save_committed(id(1, 5)).unwrap();
    for bad in [None, Some(2), Some(4), Some(10)] {
        let error = log.truncate_after(bad).unwrap_err();
        assert!(matches!(error, LogError::BadTruncation { .. }), "{error}");
    }
    log.truncate_after(Some(5)).unwrap();
    assert_eq!(log.last_log_id(), Some(id(1, 5)));
}

#[test]
fn a_full_queue_refuses_and_says_when_there_is_room() {
    let disk = formatted();
    let small = LogConfig {
        queue_bytes_max: 1000,
        ..config()
    };
    let (log, _) = Log::open(Arc::new(disk), directory(), small).unwrap();
    let room = Outcome::default();
    let tell = |room: &Outcome| {
        let done = room.done();
        Box::new(move || done(Ok(())))
    };
    log.when_room(tell(&room));
    room.expect_ok();
    enqueue(&log, [entry_of(1, 0, 5000)]);
    let error = log
        .enqueue_append(vec![entry(1, 1)], Outcome::default().done())
        .unwrap_err();
    assert!(
        matches!(
            error,
            LogError::Full {
                bound_bytes: 1000,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::WouldBlock);
    let room = Outcome::default();
    log.when_room(tell(&room));
    assert_eq!(room.get(), None);
    log.flush().unwrap();
    room.expect_ok();
    append(&log, [entry(1, 1)]);
}

#[test]
fn one_flush_takes_no_more_than_a_batch() {
    let disk = formatted();
    let small = LogConfig {
        batch_bytes_max: 500,
        ..config()
    };
    let (log, _) = Log::open(Arc::new(disk), directory(), small).unwrap();
    let outcomes: Vec<_> = (0..6)
        .map(|index| enqueue(&log, [entry_of(1, index, 200)]))
        .collect();
    assert!(log.flush().unwrap());
    assert!(outcomes[0].get().is_some() && outcomes[5].get().is_none());
    while log.flush().unwrap() {}
    outcomes.iter().for_each(Outcome::expect_ok);
}

fn temporary_files(disk: &SimDisk) -> usize {
    let names = disk.list(directory()).unwrap();
    names.iter().filter(|name| name.ends_with(".tmp")).count()
}

#[test]
fn a_spare_segment_is_prepared_and_used() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let mut index = 0;
    let mut fill = |log: &Log| {
        append(log, [entry_of(1, index, 1500)]);
        index += 1;
    };
    fill(&log);
    log.housekeep().unwrap();
    assert_eq!(
        temporary_files(&disk),
        0,
        "less than half of the segment is used"
    );
    fill(&log);
    log.housekeep().unwrap();
    assert_eq!(temporary_files(&disk), 1);
    let syncs = disk.counts().file_syncs;
    log.housekeep().unwrap();
    assert_eq!(disk.counts().file_syncs, syncs, "one spare is enough");
    fill(&log);
    assert_eq!(temporary_files(&disk), 0, "the spare has become a segment");
    assert!(disk.files().contains_key(&segment(3)));
    fill(&log);
    log.housekeep().unwrap();
    assert_eq!(temporary_files(&disk), 1);
    assert_eq!(all(&open(&disk).0).len(), 4);
    assert_eq!(temporary_files(&disk), 0, "what is left over is removed");
}

#[test]
fn a_spare_that_cannot_be_made_leaves_nothing_and_is_not_tried_again_at_once() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry_of(1, 0, 3000)]);
    disk.set_capacity(Some(6000));
    assert!(log.housekeep().is_err());
    assert!(log.status().chore_failure.is_some());
    assert_eq!(temporary_files(&disk), 0);
    disk.set_capacity(None);
    append(&log, [entry_of(1, 1, 10)]);
    log.housekeep().unwrap();
    assert_eq!(
        (temporary_files(&disk), log.status().chore_failure),
        (0, None)
    );
    append(&log, [entry_of(1, 2, 3000)]);
    log.housekeep().unwrap();
    assert_eq!(temporary_files(&disk), 1);
}

/// A disk on which other threads always come first: the log goes on while a file is created.
#[derive(Debug)]
struct Contended {
    disk: SimDisk,
    log: Mutex<Option<Log>>,
}

impl Contended {
    fn go_on(&self) {
        // Taken out, so that files created during this call change nothing.
        let Some(log) = self.log.lock().unwrap().take() else {
            return;
        };
        for _ in 0..4 {
            let next = log.last_log_id().map_or(0, |last| last.index + 1);
            append(&log, [entry_of(1, next, 1200)]);
        }
        *self.log.lock().unwrap() = Some(log);
    }
}

impl Disk for Contended {
    fn create(&self, path: &Path, length: u64) -> io::Result<Arc<dyn crate::DiskFile>> {
        let file = self.disk.create(path, length)?;
        self.go_on();
        Ok(file)
    }
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.create_directory(path)
    }
    fn directory_mode(&self, path: &Path) -> io::Result<u32> {
        self.disk.directory_mode(path)
    }
    fn make_private(&self, path: &Path) -> io::Result<()> {
        self.disk.make_private(path)
    }
    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.disk.list(directory)
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn crate::DiskFile>> {
        self.disk.open(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_directory(path)
    }
    fn space(&self, directory: &Path) -> io::Result<crate::Space> {
        self.disk.space(directory)
    }
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn crate::disk::DiskLock>>> {
        self.disk.lock(path)
    }
}

#[test]
fn a_spare_in_the_making_is_not_disturbed_by_segments_that_begin_meanwhile() {
    let disk = formatted();
    let contended = Arc::new(Contended {
        disk: disk.clone(),
        log: Mutex::default(),
    });
    let shared: Arc<dyn Disk> = Arc::clone(&contended) as _;
    let (log, _) = Log::open(shared, directory(), config()).unwrap();
    for round in 0..10 {
        let next = log.last_log_id().map_or(0, |last| last.index + 1);
        append(&log, [entry_of(1, next, 2500)]);
        *contended.log.lock().unwrap() = Some(log.clone());
        log.housekeep().unwrap();
        log.housekeep().unwrap();
        *contended.log.lock().unwrap() = None;
        let entries = all(&log);
        let (reopened, recovery) = open(&SimDisk::with_files(&disk.files()));
        assert_eq!(
            (all(&reopened), recovery.cut),
            (entries, None),
            "round {round}"
        );
    }
}

// Guarantee: D-02
#[test]
fn a_failed_sync_poisons_the_log_for_good() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    disk.fail_sync_after(0);
    let (first, second) = (enqueue(&log, [entry(1, 1)]), enqueue(&log, [entry(1, 2)]));
    assert!(log.flush().is_err());
    for outcome in [first, second] {
        let told = outcome.get().unwrap().unwrap_err();
        assert!(told.contains("could not sync"), "{told}");
        assert!(told.contains("stop this process"), "{told}");
    }
    let poisoned = |error: LogError| assert!(matches!(error, LogError::Poisoned(_)), "{error}");
    let outcome = Outcome::default();
    poisoned(
        log.enqueue_append(vec![entry(1, 3)], outcome.done())
            .unwrap_err(),
    );
    poisoned(log.truncate_after(None).unwrap_err());
    poisoned(log.purge(id(1, 0)).unwrap_err());
    poisoned(log.save_committed(id(1, 0)).unwrap_err());
    poisoned(log.entries(0..1, 1).unwrap_err());
    assert!(log.flush().is_err() && log.flush().is_err());
    assert!(log.seal().is_err());
    assert_eq!(outcome.get(), None);
    let room = Outcome::default();
    let done = room.done();
    log.when_room(Box::new(move || done(Ok(()))));
    room.expect_ok();
}

#[test]
fn a_full_disk_poisons_the_log_and_loses_nothing_acknowledged() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    disk.set_capacity(Some(5000));
    let mut acknowledged = 1;
    let error = loop {
        enqueue(&log, [entry_of(1, acknowledged, 300)]);
        match log.flush() {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    disk.set_capacity(None);
    disk.kill();
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.last, Some(id(1, acknowledged - 1)));
    append(&log, [entry(1, acknowledged)]);
}

#[test]
fn what_a_failed_sync_lost_is_written_again_when_the_log_is_opened() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    disk.fail_sync_after(0);
    enqueue(&log, [entry(1, 1)]);
    assert!(log.flush().is_err());
    // The process ends, but not the machine: the entry is readable and not on the device.
    disk.kill();
    let (_, recovery) = open(&disk);
    assert_eq!(recovery.last, Some(id(1, 1)));
    // The replica may have relied on the recovered entry by now.
    disk.crash(7);
    assert_eq!(open(&disk).1.last, Some(id(1, 1)));
}

#[test]
fn a_writer_thread_flushes_by_itself_and_seals_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(crate::disk::RealDisk);
    Log::format(&*disk, directory.path(), DIRECTORY_ID).unwrap();
    let (log, _) = Log::open(Arc::clone(&disk) as _, directory.path(), config()).unwrap();
    let writer = crate::wal::LogWriter::spawn(log.clone()).unwrap();
    let (sender, receiver) = std::sync::mpsc::sync_channel(1000);
    for index in 0..1000 {
        let sender = sender.clone();
        let done = Box::new(move |result: io::Result<()>| sender.send(result.is_ok()).unwrap());
        log.enqueue_append(vec![entry_of(1, index, 200)], done)
            .unwrap();
    }
    for _ in 0..1000 {
        assert!(receiver.recv().unwrap());
    }
    log.purge(id(1, 900)).unwrap();
    drop(writer);
    let (log, recovery) = Log::open(disk, directory.path(), config()).unwrap();
    assert_eq!(recovery.cut, None);
    assert_eq!(
        (recovery.purged, recovery.last),
        (Some(id(1, 900)), Some(id(1, 999)))
    );
    assert_eq!(all(&log).len(), 99);
}

#[test]
fn an_interrupted_removal_is_completed_whichever_names_were_left() {
    let original = formatted();
    let (log, _) = open(&original);
    (0..60).for_each(|index| append(&log, [entry_of(1, index, 300)]));
    log.purge(id(1, 45)).unwrap();
    log.flush().unwrap();
    let before = original.files();
    log.housekeep().unwrap();
    let after = original.files();
    let removed: Vec<_> = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .collect();
    assert!(removed.len() >= 4);
    for left in 0_u32..1 << removed.len() {
        let mut files = after.clone();
        for (bit, path) in removed.iter().enumerate() {
            if left >> bit & 1 == 1 {
                files.insert((*path).clone(), before[*path].clone());
            }
        }
        let disk = SimDisk::with_files(&files);
        let (log, recovery) = open(&disk);
        assert_eq!(
            (recovery.purged, all(&log).len()),
            (Some(id(1, 45)), 14),
            "left {left:b}"
        );
        log.housekeep().unwrap();
        let left_now = disk.files();
        assert!(removed.iter().all(|path| !left_now.contains_key(*path)));
    }
}

#[test]
fn a_commit_beyond_the_end_of_a_torn_log_is_limited_to_the_end() {
    let disk = formatted();
    let small = LogConfig {
        batch_bytes_max: 300,
        ..config()
    };
    let (log, _) = Log::open(Arc::new(disk.clone()), directory(), small).unwrap();
    enqueue(&log, [entry_of(1, 0, 200)]);
    enqueue(&log, [entry_of(1, 1, 200)]);
    log.save_committed(id(1, 1)).unwrap();
    // The first batch, with the commit; the entry that it covers is in the second.
    log.flush().unwrap();
    disk.crash(3);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.last, Some(id(1, 0)));
    assert_eq!(recovery.committed, Some(id(1, 0)));
    log.truncate_after(Some(0)).unwrap();
    append(&log, [entry(2, 1)]);
    assert_eq!(open(&disk).1.last, Some(id(2, 1)));
}

#[test]
fn the_copy_of_a_torn_end_goes_with_its_segment() {
    let disk = formatted();
    let (log, _) = open(&disk);
    append(&log, [entry(1, 0)]);
    disk.corrupt(&segment(2), 300, |_| 1).unwrap();
    let (log, recovery) = {
        drop(log);
        open(&disk)
    };
    let copy = recovery.cut.unwrap().kept_copy;
    assert!(disk.files().contains_key(&copy));
    (1..40).for_each(|index| append(&log, [entry_of(1, index, 300)]));
    log.purge(id(1, 30)).unwrap();
    log.flush().unwrap();
    log.housekeep().unwrap();
    assert!(!disk.files().contains_key(&segment(2)));
    assert!(!disk.files().contains_key(&copy));
}
