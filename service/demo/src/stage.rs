//! What is shown, shared by all who have something to show.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_client::Events;
use tokio::time::Instant;

use super::board::Board;

/// What is shown. Clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    shared: Arc<Mutex<Shown>>,
}

/// Everything at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) began: Instant,
    /// What the demo is doing.
    pub(crate) phase: String,
    pub(crate) board: Board,
    /// By id, what each replica says of itself.
    pub(crate) replicas: BTreeMap<u64, ReplicaState>,
    pub(crate) tally: Tally,
    /// What has not been printed yet.
    lines: Vec<String>,
}

/// A replica, as it is seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplicaState {
    Down,
    Follows { revision: u64 },
    Leads { revision: u64 },
}

/// What clients were answered so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) read: u64,
    pub(crate) other: u64,
    /// The acknowledged writes by server and resource.
    pub(crate) places: BTreeMap<(String, String), u64>,
    /// The store's position of which is known at which revision it had been reached.
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

    /// Says what the demo is doing from now on.
    pub(crate) fn enter(&self, phase: impl Into<String>) {
        let mut shown = self.lock();
        shown.phase = phase.into();
        let line = format!("== {}", shown.phase);
        shown.say(&line);
    }

    /// Takes up what a watch saw.
    pub(crate) fn take(&self, events: &Events) {
        let mut shown = self.lock();
        let told = shown.board.take(events);
        for line in told {
            let line = format!("revision {}: {line}", events.revision);
            shown.say(&line);
        }
    }

    /// Looks at everything.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Shown) -> T) -> T {
        look(&self.lock())
    }

    /// Changes what is shown.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Shown)) {
        change(&mut self.lock());
    }

    /// The lines that were not printed yet, and all else.
    pub(crate) fn next_frame(&self) -> (Vec<String>, Shown) {
        let mut shown = self.lock();
        let lines = std::mem::take(&mut shown.lines);
        (lines, shown.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        // Whoever panicked has at worst left a line out.
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
