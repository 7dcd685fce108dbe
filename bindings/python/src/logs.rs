//! Passes the client's log records to Python's `logging`.

mod waiting;

use std::fmt::{self, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use crate::runtime::{self, Home};
use waiting::{Record, number};

pub(crate) use waiting::Logs;

/// Waits for records of the log, without the interpreter; `None` once it ends.
#[pyfunction(name = "_next_logs")]
pub(crate) fn next_logs(py: Python<'_>) -> PyResult<Option<Vec<Record>>> {
    let home = Home::get()?;
    Ok(py.detach(|| home.logs.next()))
}

/// The lowest level that is recorded, as a number of `logging`.
static LEVEL: AtomicU8 = AtomicU8::new(u8::MAX);

/// Records what is at least of this level, by the numbers of `logging`.
#[pyfunction(name = "_set_log_level")]
pub(crate) fn set_log_level(level: u8) {
    static INSTALLED: Once = Once::new();
    LEVEL.store(level, Ordering::Relaxed);
    INSTALLED.call_once(|| {
        // A program that embeds this module and has set a subscriber already keeps its own.
        let _ =
            tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Recorder));
    });
    tracing::callsite::rebuild_interest_cache();
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

/// The message of an event, followed by its fields.
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
