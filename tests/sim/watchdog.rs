//! Ends a simulation whose clock stands still, which a task that never waits causes.
//!
//! The watchdog is a thread that counts real time, the only one here. When the simulated clock has not moved for
//! [`PATIENCE`], it wakes the simulation's own wait, which panics and so prints the seed. If even that cannot be
//! polled, because a task never yields, it aborts the process after the same time again.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

/// The real time that may pass between two steps of simulated time. A step takes milliseconds, and a second on a busy
/// machine while a checkpoint is encoded.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

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
    patience: Duration,
}

impl Watchdog {
    /// Watches this thread's simulation. `run` names it in the message before the process is aborted.
    pub(crate) fn over(run: String, patience: Duration) -> Self {
        let watched = Arc::new(Watched {
            beats: AtomicU64::new(0),
            stuck: AtomicBool::new(false),
            waker: Mutex::new(None),
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

/// Checks after each span of patience whether time has moved, until the watchdog is dropped.
fn watch(watched: &Watched, run: &str, ended: &Receiver<()>) {
    let mut seen = watched.beats.load(Ordering::SeqCst);
    loop {
        match ended.recv_timeout(watched.patience) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = watched.beats.load(Ordering::SeqCst);
        if now != seen {
            seen = now;
        } else if watched.stuck.swap(true, Ordering::SeqCst) {
            eprintln!("{run}: {}, and nothing can be polled", watched.told());
            std::process::abort();
        } else if let Some(waker) = watched.waker.lock().unwrap().take() {
            waker.wake();
        }
    }
}

impl Watched {
    fn told(&self) -> String {
        format!(
            "simulated time has not moved for {:?} of real time",
            self.patience
        )
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

    /// Far less than a test may take, and far more than a step takes on an idle machine.
    const SHORT: Duration = Duration::from_millis(200);

    fn machine(task: impl Future<Output = ()> + Send + 'static) -> Clocked {
        let mut machine = Clocked::new(1_000);
        machine.start();
        machine.spawn(task);
        machine
    }

    #[test]
    #[should_panic(expected = "simulated time has not moved for 200ms of real time")]
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
        let slowly = SHORT / 4;
        let mut machine = machine(async move {
            let (_never, nothing) = sync_channel::<()>(1);
            loop {
                assert!(nothing.recv_timeout(slowly).is_err());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        });
        for _ in 0..16 {
            machine.advance(2);
        }
    }
}
