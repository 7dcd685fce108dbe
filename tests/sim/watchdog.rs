//! Ends a simulation whose clock stands still, which a task that never waits causes.
//!
//! The watchdog is a thread that counts the processor time of the simulation's thread: real time says nothing, because a
//! busy machine may leave a simulation none of its processors. When it has used [`PATIENCE`] and the simulated clock has
//! not moved, the watchdog wakes the simulation's own wait, which panics and so prints the seed. If even that cannot be
//! polled, because a task never yields, it aborts the process after the same time again. It also aborts it if the clock
//! has not moved for [`BLOCKED`] of real time: then a thread waits for what never comes.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;
use std::{fs, process};

/// The processor time that a simulation may use between two steps of simulated time. A step takes milliseconds, and a
/// second while a checkpoint is encoded.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The real time that may pass between two steps: the steps of a test run are given what other programs leave.
const BLOCKED: Duration = Duration::from_mins(20);

/// How often the watchdog looks, as a part of its patience.
const LOOKS: u32 = 8;

thread_local! {
    /// The state shared with the watchdog of this thread's simulation.
    static WATCHING: RefCell<Option<Arc<Watched>>> = const { RefCell::new(None) };
}

/// Watches over the simulation of this thread until it is dropped.
pub(crate) struct Watchdog {
    _alive: SyncSender<()>,
}

/// The state that a simulation shares with its watchdog.
struct Watched {
    /// The number of times that simulated time has moved.
    beats: AtomicU64,
    stuck: AtomicBool,
    /// The waker of the simulation's wait.
    waker: Mutex<Option<Waker>>,
    used: ProcessorTime,
    patience: Duration,
}

impl Watchdog {
    /// Watches this thread's simulation. `run` names it in the message before the process is aborted.
    pub(crate) fn over(run: String, patience: Duration) -> Self {
        let watched = Arc::new(Watched {
            beats: AtomicU64::new(0),
            stuck: AtomicBool::new(false),
            waker: Mutex::new(None),
            used: ProcessorTime::of_this_thread(),
            patience,
        });
        WATCHING.set(Some(Arc::clone(&watched)));
        let (alive, ended) = sync_channel(1);
        thread::spawn(move || watch(&watched, &run, &ended));
        Self { _alive: alive }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        WATCHING.set(None);
    }
}

/// Checks again and again whether time has moved, until the watchdog is dropped.
fn watch(watched: &Watched, run: &str, ended: &Receiver<()>) {
    let (every, mut waited) = (watched.patience / LOOKS, Duration::ZERO);
    let (mut seen, mut since) = (watched.beats.load(Ordering::SeqCst), watched.used.now());
    loop {
        match ended.recv_timeout(every) {
            Err(RecvTimeoutError::Timeout) => waited += every,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
        // Before the beats: a step that ends in between is seen, and its time is not taken for the next one's.
        let used = watched.used.now();
        let beats = watched.beats.load(Ordering::SeqCst);
        if beats != seen {
            (seen, since, waited) = (beats, watched.used.now(), Duration::ZERO);
        } else if waited >= BLOCKED {
            abort(&format!(
                "{run}: simulated time has not moved for {BLOCKED:?} of real time"
            ));
        } else if used.saturating_sub(since) < watched.patience {
            continue;
        } else if watched.stuck.swap(true, Ordering::SeqCst) {
            abort(&format!(
                "{run}: {}, and nothing can be polled",
                watched.told()
            ));
        } else {
            if let Some(waker) = watched.waker.lock().unwrap().take() {
                waker.wake();
            }
            since = watched.used.now();
        }
    }
}

/// Says why and ends the process. The harness keeps what a test prints until the test ends, which it never does now.
fn abort(why: &str) -> ! {
    let _ = writeln!(io::stderr(), "{why}");
    process::abort();
}

impl Watched {
    fn told(&self) -> String {
        format!(
            "simulated time has not moved for {:?} of processor time",
            self.patience
        )
    }
}

/// The processor time that a thread has used.
struct ProcessorTime(PathBuf);

impl ProcessorTime {
    fn of_this_thread() -> Self {
        let thread = fs::canonicalize("/proc/thread-self").expect("the threads under /proc");
        Self(thread.join("schedstat"))
    }

    /// It until now, as the kernel counts it: its first number is in nanoseconds.
    fn now(&self) -> Duration {
        let read = fs::read_to_string(&self.0);
        let used = read
            .ok()
            .and_then(|text| text.split(' ').next()?.parse().ok());
        Duration::from_nanos(used.unwrap_or_default())
    }
}

/// Awaits `moves`, which moves simulated time. Panics if the watchdog of this thread finds that it is stuck.
pub(crate) async fn watched(moves: impl Future<Output = ()>) {
    let Some(watching) = WATCHING.with_borrow(Clone::clone) else {
        return moves.await;
    };
    let mut moves = pin!(moves);
    std::future::poll_fn(|context| {
        if moves.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        *watching.waker.lock().unwrap() = Some(context.waker().clone());
        assert!(
            !watching.stuck.load(Ordering::SeqCst),
            "{}",
            watching.told()
        );
        Poll::Pending
    })
    .await;
    watching.beats.fetch_add(1, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Clocked;

    /// Far less than a test may take, and far more than a step takes.
    const SHORT: Duration = Duration::from_millis(200);

    fn machine(task: impl Future<Output = ()> + Send + 'static) -> Clocked {
        let mut machine = Clocked::new(1_000);
        machine.start();
        machine.spawn(task);
        machine
    }

    #[test]
    #[should_panic(expected = "simulated time has not moved for 200ms of processor time")]
    fn a_task_that_never_waits_ends_the_simulation() {
        let _watchdog = Watchdog::over("this test".to_owned(), SHORT);
        let mut machine = machine(async {
            loop {
                tokio::task::yield_now().await;
            }
        });
        machine.advance(2);
    }

    #[test]
    fn as_long_as_time_moves_a_simulation_may_take_its_time() {
        let _watchdog = Watchdog::over("this test".to_owned(), SHORT);
        let mut machine = machine(async {
            let used = ProcessorTime::of_this_thread();
            loop {
                let from = used.now();
                while used.now() - from < SHORT / 4 {}
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        for _ in 0..16 {
            machine.advance(2);
        }
    }

    #[test]
    fn a_simulation_that_a_busy_machine_lets_wait_is_not_stuck() {
        let _watchdog = Watchdog::over("this test".to_owned(), SHORT);
        let mut machine = machine(async {
            let (_never, nothing) = sync_channel::<()>(1);
            assert!(nothing.recv_timeout(3 * SHORT).is_err());
        });
        machine.advance(2);
    }
}
