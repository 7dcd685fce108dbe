//! What the client says of itself, on its way to `logging`.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::runtime::{self, Home};

/// Records that wait at most: who logs more than is taken loses the newest.
const WAITING_MAX: usize = 1_024;

/// A record: its level by the numbers of `logging`, where it is from, and what it says.
type Record = (u8, String, String);

/// The records that wait for Python. It has a thread that takes them, so that no thread of the runtime has to enter the
/// interpreter.
#[derive(Default)]
pub(crate) struct Logs {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<Record>,
    lost: u64,
    stopped: bool,
}

impl Logs {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, record: Record) {
        let mut waiting = self.lock();
        if waiting.records.len() < WAITING_MAX {
            waiting.records.push_back(record);
        } else {
            waiting.lost += 1;
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.arrived.notify_all();
    }

    /// Waits for records; `None` once the interpreter ends.
    fn next(&self) -> Option<Vec<Record>> {
        let mut waiting = self.lock();
        while waiting.records.is_empty() && !waiting.stopped {
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut records: Vec<Record> = waiting.records.drain(..).collect();
        let lost = std::mem::take(&mut waiting.lost);
        if lost > 0 {
            let message =
                format!("{lost} records were lost: they came faster than they were taken");
            records.push((number(Level::WARN), "synod_client".to_owned(), message));
        }
        (!records.is_empty()).then_some(records)
    }
}

/// Waits for records of the log, without the interpreter; `None` once it ends.
#[pyfunction(name = "_next_logs")]
pub(crate) fn next_logs(py: Python<'_>) -> PyResult<Option<Vec<Record>>> {
    let home = Home::get()?;
    Ok(py.detach(|| home.logs.next()))
}

/// The lowest level that is recorded, by the numbers of `logging`.
static LEVEL: AtomicU8 = AtomicU8::new(u8::MAX);

/// Records what is at least of this level, by the numbers of `logging`.
#[pyfunction(name = "_set_log_level")]
pub(crate) fn set_log_level(level: u8) {
    static INSTALLED: Once = Once::new();
    LEVEL.store(level, Ordering::Relaxed);
    INSTALLED.call_once(|| {
        // Whoever embeds this module and has a subscriber already keeps it.
        let _ =
            tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Recorder));
    });
    tracing::callsite::rebuild_interest_cache();
}

fn number(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}

struct Recorder;

impl Recorder {
    fn wants(metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("synod")
            && number(*metadata.level()) >= LEVEL.load(Ordering::Relaxed)
    }
}

impl<S: Subscriber> Layer<S> for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        Self::wants(metadata)
    }

    fn register_callsite(
        &self,
        metadata: &'static Metadata<'static>,
    ) -> tracing::subscriber::Interest {
        if Self::wants(metadata) {
            tracing::subscriber::Interest::sometimes()
        } else {
            tracing::subscriber::Interest::never()
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(logs) = runtime::logs() else {
            return;
        };
        let mut text = Text::default();
        event.record(&mut text);
        let metadata = event.metadata();
        let message = text.message + &text.fields;
        logs.push((
            number(*metadata.level()),
            metadata.target().to_owned(),
            message,
        ));
    }
}

/// The message of an event, and its fields behind it.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string does not fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
    }
}
