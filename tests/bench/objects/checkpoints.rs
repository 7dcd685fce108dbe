//! Measures what a checkpoint of all objects costs concurrent writers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::MANY;
use crate::replicas::Replicas;
use crate::sample::print_time;
use crate::stored::key;
use crate::writers::{Write, Written, write_until};

/// Bytes of data in each write: enough for a checkpoint about every ten seconds.
const BYTES: usize = 14 << 10;

/// How long the writers write.
const SPAN: Duration = Duration::from_secs(40);

/// How often the replicas' folders are checked.
const BEAT: Duration = Duration::from_millis(5);

/// The time in which a replica wrote a checkpoint.
#[derive(Clone, Copy, Debug)]
struct Window {
    begin: Instant,
    end: Instant,
}

/// Writes steadily and prints how long writes take while a checkpoint is written, and while none is.
pub(crate) async fn stall(replicas: &Replicas) {
    let watchers: Vec<_> = replicas
        .checkpoints()
        .into_iter()
        .map(|folder| tokio::spawn(watch(folder)))
        .collect();
    let write = |number: u64| Write {
        key: key(number as usize * 7_919 % MANY),
        bytes: Some(BYTES),
    };
    let written = write_until(replicas, write, sleep(SPAN)).await;
    let mut windows = Vec::new();
    for watcher in watchers {
        windows.extend(watcher.await.expect("the folders can be read"));
    }
    assert!(!windows.is_empty(), "there was a checkpoint");
    for window in &windows {
        print_time("a checkpoint is written", window.end - window.begin);
    }
    let during = |write: &Written| {
        windows
            .iter()
            .any(|window| write.begin < window.end && write.begin + write.taken > window.begin)
    };
    let (during, before): (Vec<Written>, Vec<Written>) = written.into_iter().partition(during);
    quantiles("writes while no checkpoint is written", before);
    quantiles("writes while a checkpoint is written", during);
}

/// The times in which the folder had a temporary file, until [`SPAN`] is over and the last such file is gone.
async fn watch(folder: PathBuf) -> Vec<Window> {
    let (mut windows, mut begin) = (Vec::new(), None);
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let last = Instant::now() + SPAN;
    while Instant::now() < last || begin.is_some() {
        let now = beat.tick().await;
        match (has_temporary(&folder), begin) {
            (true, None) => begin = Some(now),
            (false, Some(since)) => {
                windows.push(Window {
                    begin: since,
                    end: now,
                });
                begin = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    windows
}

fn has_temporary(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = files.map(|file| file.path());
    paths.any(|path| path.extension().is_some_and(|extension| extension == "tmp"))
}

fn quantiles(name: &str, written: Vec<Written>) {
    let mut taken: Vec<Duration> = written.into_iter().map(|write| write.taken).collect();
    taken.sort();
    let Some(last) = taken.len().checked_sub(1) else {
        println!("{name:<64} {:>10}", "none");
        return;
    };
    let at = |per_mille: usize| taken[last * per_mille / 1_000].as_secs_f64() * 1_000.0;
    println!(
        "{name:<64} p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, most {:.2} ms, of {}",
        at(500),
        at(990),
        at(999),
        at(1_000),
        taken.len()
    );
}
