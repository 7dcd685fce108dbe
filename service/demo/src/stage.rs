//! What the screen shows, shared by all tasks of the demo that report something.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_client::Events;
use tokio::time::Instant;

use super::board::Board;

/// The shared state of the screen. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    shared: Arc<Mutex<Shown>>,
}

/// Everything that is shown at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) began: Instant,
    /// The current phase of the demo.
    pub(crate) phase: String,
    pub(crate) board: Board,
    /// The state of each replica, by id.
    pub(crate) replicas: BTreeMap<u64, ReplicaState>,
    pub(crate) tally: Tally,
    /// The lines that are not printed yet.
    lines: Vec<String>,
}

/// The state of a replica, as its status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicaState {
    Down,
    Follows { revision: u64 },
    Leads { revision: u64 },
}

/// The answers to clients so far, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) read: u64,
    pub(crate) other: u64,
    /// The number of acknowledged writes by server and resource.
    pub(crate) places: BTreeMap<(String, String), u64>,
    /// The store's last position that a mark relates to a revision.
    pub(crate) marked: u64,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let shown = Shown {
            began: Instant::now(),
            phase: "starting".to_owned(),
            board: Board::default(),
            replicas: BTreeMap::new(),
            tally: Tally::default(),
            lines: Vec::new(),
        };
        Self {
            shared: Arc::new(Mutex::new(shown)),
        }
    }

    /// Prints a line.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        self.lock().say(text.as_ref());
    }

    /// Begins a new phase, and prints it.
    pub(crate) fn enter(&self, phase: impl Into<String>) {
        let mut shown = self.lock();
        shown.phase = phase.into();
        let line = format!("== {}", shown.phase);
        shown.say(&line);
    }

    /// Applies the events of a watch.
    pub(crate) fn take(&self, events: &Events) {
        let mut shown = self.lock();
        let told = shown.board.take(events);
        for line in told {
            let line = format!("revision {}: {line}", events.revision);
            shown.say(&line);
        }
    }

    /// Reads what is shown.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Shown) -> T) -> T {
        look(&self.lock())
    }

    /// Changes what is shown.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.lock());
    }

    /// The lines that are not printed yet, and everything else that is shown.
    pub(crate) fn next_frame(&self) -> (Vec<String>, Shown) {
        let mut shown = self.lock();
        let lines = std::mem::take(&mut shown.lines);
        (lines, shown.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        // A task that panicked has at worst left out a line.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn say(&mut self, text: &str) {
        let seconds = self.began.elapsed().as_secs_f64();
        self.lines.push(format!("[{seconds:6.2}s] {text}"));
    }
}

impl Tally {
    /// The acknowledged writes at a server, of all resources.
    pub(crate) fn at(&self, server: &str) -> u64 {
        let places = self.places.iter().filter(|((place, _), _)| place == server);
        places.map(|(_, count)| count).sum()
    }
}
