//! The threads of production: one flushes, one does the housekeeping, and others read meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use super::model::Model;
use super::*;
use crate::disk::RealDisk;
use crate::wal::LogWriter;

/// Checks that a read returns consecutive entries with their own payloads.
fn check_read(log: &Log) {
    let first = log.purged().map_or(0, |purged| purged.index);
    let read = log.entries(first..first + 40, 20_000).unwrap();
    for (position, entry) in read.iter().enumerate() {
        let LogId { term, index, .. } = entry.id;
        assert_eq!(*entry, entry_of(term, index, entry.payload.len()));
        assert_eq!(index, read[0].id.index + position as u64);
    }
}

/// Appends, truncates and purges in a fixed order, and returns what the log should hold.
fn work(log: &Log) -> Model {
    let mut model = Model::default();
    let (sender, receiver) = sync_channel(1);
    for round in 0..300_u64 {
        let next = model.next();
        let length = usize::try_from(round * 37 % 900).unwrap();
        let entries: Vec<_> = (next..next + 1 + round % 5)
            .map(|index| entry_of(round, index, length))
            .collect();
        model.entries.extend(entries.clone());
        let sender = sender.clone();
        let (room, has_room) = sync_channel(1);
        log.when_room(Box::new(move || room.send(()).unwrap()));
        has_room.recv().unwrap();
        let done = Box::new(move |result: std::io::Result<()>| {
            if round % 10 == 9 {
                sender.send(result).unwrap();
            }
        });
        log.enqueue_append(entries, done).unwrap();
        if round % 7 == 0 && model.entries.len() > 3 {
            let index = model.entries[model.entries.len() - 2].id.index;
            log.truncate_after(Some(index)).unwrap();
            model.truncate_after(index);
        }
        if round % 40 == 39 {
            let purged = model.entries[model.entries.len() / 2].id;
            log.purge(purged).unwrap();
            model.purge(purged);
        }
        if round % 10 == 9 {
            receiver.recv().unwrap().unwrap();
        }
    }
    model
}

fn run(disk: &Arc<dyn Disk>, directory: &Path) {
    Log::format(&**disk, directory, DIRECTORY_ID).unwrap();
    let small = LogConfig {
        queue_bytes_max: 4000,
        cache_bytes_max: 2000,
        ..config()
    };
    let (log, _) = Log::open(Arc::clone(disk), directory, small).unwrap();
    let writer = LogWriter::spawn(log.clone()).unwrap();
    let finished = AtomicBool::new(false);
    let model = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    check_read(&log);
                }
            });
        }
        let worked = scope.spawn(|| work(&log)).join();
        // The readers must end, whether the work succeeded or not.
        finished.store(true, Ordering::Release);
        worked.unwrap()
    });
    model.check(&log);
    drop(writer);
    assert!(!log.status().poisoned);
    assert_eq!(log.status().chore_failure, None);
    let (log, recovery) = Log::open(Arc::clone(disk), directory, config()).unwrap();
    assert_eq!(recovery.cut, None);
    model.check(&log);
}

#[test]
fn readers_never_see_anything_but_entries_while_the_log_moves_on() {
    let directory = tempfile::tempdir().unwrap();
    let real: Arc<dyn Disk> = Arc::new(RealDisk);
    run(&real, directory.path());
}

#[test]
fn the_threads_work_on_a_simulated_disk_as_well() {
    let disk = formatted();
    let simulated: Arc<dyn Disk> = Arc::new(disk.clone());
    run(&simulated, directory());
    disk.crash(3);
    open(&disk);
}

#[test]
fn dropping_the_writer_flushes_seals_and_ends_its_threads() {
    let disk = formatted();
    let (log, _) = open(&disk);
    let writer = LogWriter::spawn(log.clone()).unwrap();
    let outcome = enqueue(&log, [entry(1, 0)]);
    drop(writer);
    outcome.expect_ok();
    disk.crash(1);
    assert_eq!(all(&open(&disk).0), [entry(1, 0)]);
}

#[test]
fn a_writer_whose_disk_fails_tells_every_callback_and_ends() {
    let disk = formatted();
    let (log, _) = open(&disk);
    disk.fail_sync_after(0);
    let outcomes: Vec<_> = (0..3)
        .map(|index| enqueue(&log, [entry(1, index)]))
        .collect();
    let writer = LogWriter::spawn(log.clone()).unwrap();
    drop(writer);
    for outcome in outcomes {
        assert!(outcome.get().unwrap().is_err());
    }
    assert!(log.status().poisoned);
}
