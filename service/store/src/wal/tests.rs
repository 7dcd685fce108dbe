//! Tests of the log as a whole, on simulated and real disks.

mod behaviour;
mod crash;
mod damage;
mod model;
mod threads;
mod torn;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::{Log, LogConfig, OpenError, Recovery};
use crate::disk::{Disk, SimDisk};
use crate::log_id::{LogId, LogRecord};

const DIRECTORY_ID: [u8; 16] = *b"0123456789abcdef";

fn directory() -> &'static Path {
    Path::new("/data/wal")
}

fn segment(number: u64) -> PathBuf {
    directory().join(super::names::segment(number))
}

/// Small sizes, so that tests reach every bound.
fn config() -> LogConfig {
    LogConfig {
        directory_id: DIRECTORY_ID,
        segment_bytes: 4096,
        queue_bytes_max: 1 << 20,
        batch_bytes_max: 1 << 16,
        cache_bytes_max: 1 << 16,
    }
}

fn formatted() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_directory(directory()).unwrap();
    Log::format(&disk, directory(), DIRECTORY_ID).unwrap();
    for ancestor in directory().ancestors() {
        disk.sync_directory(ancestor).unwrap();
    }
    disk
}

fn open(disk: &SimDisk) -> (Log, Recovery) {
    try_open(disk).unwrap()
}

fn try_open(disk: &SimDisk) -> Result<(Log, Recovery), OpenError> {
    Log::open(Arc::new(disk.clone()), directory(), config())
}

fn id(term: u64, index: u64) -> LogId {
    LogId {
        term,
        leader: 1,
        index,
    }
}

/// An entry with a payload of its own.
fn entry(term: u64, index: u64) -> LogRecord {
    entry_of(term, index, 40)
}

fn entry_of(term: u64, index: u64, length: usize) -> LogRecord {
    let text = format!("<{term}.{index}>");
    let payload: Vec<u8> = text.bytes().cycle().take(length).collect();
    LogRecord {
        id: id(term, index),
        payload: Bytes::from(payload),
    }
}

/// Appends and flushes, so that the entries are durable.
fn append(log: &Log, entries: impl IntoIterator<Item = LogRecord>) {
    let outcome = enqueue(log, entries);
    while log.flush().unwrap() {}
    outcome.expect_ok();
}

fn enqueue(log: &Log, entries: impl IntoIterator<Item = LogRecord>) -> Outcome {
    let outcome = Outcome::default();
    log.enqueue_append(entries.into_iter().collect(), outcome.done())
        .unwrap();
    outcome
}

/// Every entry that the log holds.
fn all(log: &Log) -> Vec<LogRecord> {
    log.entries(0..u64::MAX, usize::MAX).unwrap()
}

/// The outcomes that a callback got.
#[derive(Clone, Debug, Default)]
struct Outcome {
    told: Arc<Mutex<Vec<Result<(), String>>>>,
}

impl Outcome {
    fn done(&self) -> super::Done {
        let told = Arc::clone(&self.told);
        Box::new(move |result| told.lock().unwrap().push(result.map_err(|e| e.to_string())))
    }

    fn get(&self) -> Option<Result<(), String>> {
        let told = self.told.lock().unwrap();
        assert!(
            told.len() <= 1,
            "a callback was called {} times",
            told.len()
        );
        told.first().cloned()
    }

    fn expect_ok(&self) {
        assert_eq!(self.get(), Some(Ok(())));
    }
}
