//! Reads the state of a checkpoint in several threads.
//!
//! The caller's thread reads the file and verifies it; others read the rows and hash them, and one makes the state of
//! them, in their order. So a start takes as long as the slowest of the three.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, available_parallelism, scope};

use bytes::Bytes;
use synod_machine::{HashedRow, State};

use super::CheckpointReader;
use super::rows::{Cut, Made, MalformedRows, each_row};

/// Threads that read rows. With more, the one that makes the state could not keep up.
const READERS_MAX: usize = 3;

/// Parts of the file that wait for a thread. More would only take memory.
const WAITING_MAX: usize = 2;

type Hashed = Result<Vec<HashedRow>, MalformedRows>;

/// Reads the state of a checkpoint, from its first chunk to its trailer.
///
/// # Errors
///
/// The checkpoint is damaged, the disk fails, or there can be no more threads.
pub fn read_state(checkpoint: &mut CheckpointReader) -> io::Result<State> {
    let unusable = |fault: MalformedRows| io::Error::new(io::ErrorKind::InvalidData, fault);
    let readers = available_parallelism().map_or(1, usize::from);
    let (made, end) = scope(|scope| {
        let (mut parts, mut hashed) = (Vec::new(), Vec::new());
        for _ in 0..readers.min(READERS_MAX) {
            let (part, its_parts) = sync_channel(WAITING_MAX);
            let (its_rows, rows) = sync_channel(WAITING_MAX);
            parts.push(part);
            hashed.push(rows);
            let reader = Builder::new().name("synod-rows".to_owned());
            reader.spawn_scoped(scope, move || read_rows(&its_parts, &its_rows))?;
        }
        let maker = Builder::new().name("synod-state".to_owned());
        let maker = maker.spawn_scoped(scope, move || make(&hashed))?;
        let end = deal(checkpoint, parts);
        let made = maker.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok::<_, io::Error>((made, end))
    })?;
    // What is wrong with a row stands before the place where reading ended.
    let made = made.map_err(unusable)?;
    end?.end().map_err(unusable)?;
    made.state().map_err(unusable)
}

/// Deals the rows of the file out to the threads that read them, in turn. Ends early if one of them does.
fn deal(checkpoint: &mut CheckpointReader, parts: Vec<SyncSender<Bytes>>) -> io::Result<Cut> {
    let mut cut = Cut::default();
    let mut turns = parts.iter().cycle();
    while let Some(chunk) = checkpoint.next_chunk()? {
        let part = cut
            .at_rows(&chunk)
            .map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))?;
        let taken = turns.next().map(|reader| reader.send(part));
        if !matches!(taken, Some(Ok(()))) {
            break;
        }
    }
    Ok(cut)
}

/// Reads the rows of each part. Ends at the first that holds something else.
fn read_rows(parts: &Receiver<Bytes>, to: &SyncSender<Hashed>) {
    for part in parts {
        let mut rows = Vec::new();
        let read = each_row(&part, |row| rows.push(row)).map(|()| rows);
        let is_last = read.is_err();
        if to.send(read).is_err() || is_last {
            return;
        }
    }
}

/// Takes the rows in the order in which they were dealt.
fn make(hashed: &[Receiver<Hashed>]) -> Result<Made, MalformedRows> {
    let mut made = Made::default();
    for reader in hashed.iter().cycle() {
        let Ok(rows) = reader.recv() else {
            break;
        };
        rows?.into_iter().for_each(|row| made.add(row));
    }
    Ok(made)
}
