//! What a worker tells: one line for each event, and on a terminal a bar for the migration that goes on.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use synod_client::{Error, GroupResource, Migration, MigrationFailure, Worked};
use synod_terminal::progress::{Bar, amount};
use tokio::time::sleep;

use super::count::Counted;
use super::stored_versions::Trimmed;
use super::tally::{Seen, Tally};
use crate::args::MigrateFormat;
use crate::failure::Failure;
use crate::output::{self, Reader, printable};

/// How often the bar is drawn, and how often progress is told where there is no bar.
const DRAWN: Duration = Duration::from_millis(200);
const TOLD: Duration = Duration::from_secs(5);

/// Something that has happened, in both forms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    text: String,
    json: Value,
}

/// Whom a worker tells.
pub(super) struct Report {
    format: MigrateFormat,
    has_bar: bool,
    reader: Mutex<Reader>,
    bar: Mutex<Bar>,
}

impl Event {
    /// A migration was claimed, and is worked at.
    pub(super) fn claimed(tally: &Tally) -> Self {
        let Tally {
            migration,
            target,
            through,
            ..
        } = tally;
        Self {
            text: format!("{migration}  claimed: to {target}, read and written as {through}"),
            json: json!({"claimed": {"migration": migration, "target": target, "through": through}}),
        }
    }

    /// How far it is.
    fn progress(tally: &Tally) -> Self {
        let (name, seen) = (&tally.migration, tally.seen());
        let done = seen.rewritten + seen.skipped;
        let left = seen
            .remaining
            .map(|left| format!(", {left} left"))
            .unwrap_or_default();
        Self {
            text: format!("{name}  {done} done{left}, {:.0}/s", seen.per_second),
            json: json!({"progress": numbers(name, &seen)}),
        }
    }

    /// The work at it has ended.
    pub(super) fn ended(tally: &Tally, worked: &Worked, trimmed: Option<&Trimmed>) -> Self {
        let (name, seen) = (&tally.migration, tally.seen());
        let mut json = numbers(name, &seen);
        let (outcome, words) = match worked {
            Worked::Completed { assumptions } => {
                let assumed: Vec<&str> =
                    assumptions.iter().map(|one| one.message.as_str()).collect();
                if !assumed.is_empty() {
                    json["assumes"] = json!(assumed);
                }
                let assumed = assumed.iter().map(|one| format!("; assumed: {one}"));
                (
                    "COMPLETED",
                    format!("completed{}", assumed.collect::<String>()),
                )
            }
            Worked::Failed(failure) => {
                json["why"] = failure.reason.as_str().into();
                let fault = seen
                    .fault
                    .as_deref()
                    .map(|fault| format!(" (last: {fault})"));
                if let Some(fault) = &seen.fault {
                    json["lastFault"] = fault.as_str().into();
                }
                (
                    "FAILED",
                    format!(
                        "failed: {}{}",
                        failure.reason.as_str(),
                        fault.unwrap_or_default()
                    ),
                )
            }
            Worked::Released { why } => {
                json["why"] = why.as_str().into();
                ("RELEASED", format!("given back: {why}"))
            }
            Worked::Lost => (
                "LOST",
                "stopped: it was aborted, or is another worker's".to_owned(),
            ),
        };
        json["outcome"] = outcome.into();
        let trimmed = trimmed.map(|trimmed| match trimmed {
            Trimmed::To(version) => {
                json["storedVersions"] = json!([version]);
                format!("; storedVersions: {version}")
            }
            Trimmed::Left(why) => {
                json["storedVersionsLeft"] = why.as_str().into();
                format!("; storedVersions were left as they are: {why}")
            }
        });
        let Seen {
            rewritten, skipped, ..
        } = seen;
        let trimmed = trimmed.unwrap_or_default();
        Self {
            text: format!("{name}  {words}  {rewritten} rewritten, {skipped} skipped{trimmed}"),
            json: json!({"ended": json}),
        }
    }

    /// What a dry run has counted.
    pub(super) fn counted(migration: &Migration, counted: &Counted) -> Self {
        let (name, Counted { objects, bytes }) = (migration.id.to_string(), counted);
        Self {
            text: format!(
                "{name}  would rewrite {objects} objects, {}",
                amount(*bytes)
            ),
            json: json!({"counted": {"migration": name, "objects": objects, "bytes": bytes}}),
        }
    }

    /// A dry run has found nothing to count.
    pub(super) fn nothing_to_count() -> Self {
        Self {
            text: "no migration is open: nothing would be rewritten".to_owned(),
            json: json!({"nothing": {"why": "no migration is open"}}),
        }
    }

    /// The API server does not serve a resource that the caller named.
    pub(super) fn unserved(resource: &GroupResource) -> Self {
        let name = resource.qualified();
        let why = "the API server has no such resource that can be listed and updated";
        Self {
            text: format!("{name}  not served: {why}"),
            json: json!({"unserved": {"resource": name, "why": why}}),
        }
    }

    /// A migration whose resource is not served was given up.
    pub(super) fn given_up(migration: &Migration, failure: &MigrationFailure) -> Self {
        let (name, why) = (migration.id.to_string(), failure.reason.as_str());
        Self {
            text: format!("{name}  failed: {why}"),
            json: json!({"ended": {"migration": name, "why": why, "outcome": "FAILED"}}),
        }
    }

    /// It cannot be claimed yet, for this reason; for so long, if that is known.
    pub(super) fn waits(migration: &Migration, refusal: &Error, left: Option<Duration>) -> Self {
        let name = migration.id.to_string();
        let mut json = json!({"migration": name, "code": refusal.kind().to_string()});
        let why = match left {
            Some(left) => {
                json["leftMs"] = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).into();
                let seconds = left.as_millis().div_ceil(1_000);
                let target = &migration.target;
                format!("writes in another version than {target} may land for {seconds} s more")
            }
            None => refusal.message().to_owned(),
        };
        json["why"] = why.as_str().into();
        Self {
            text: format!("{name}  waits: {why}"),
            json: json!({"waits": json}),
        }
    }

    /// Something failed that is tried again, or that the command goes on without.
    pub(super) fn fault(migration: &Migration, failure: &Failure) -> Self {
        let name = migration.id.to_string();
        let whole = failure.to_string();
        let why = whole
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned();
        Self {
            text: format!("{name}  put off: {why}"),
            json: json!({"fault": {"migration": name, "why": why}}),
        }
    }
}

fn numbers(migration: &str, seen: &Seen) -> Value {
    let mut json = json!({
        "migration": migration,
        "rewritten": seen.rewritten,
        "skipped": seen.skipped,
        "bytes": seen.bytes,
    });
    if let Some(remaining) = seen.remaining {
        json["remaining"] = remaining.into();
    }
    json
}

impl Report {
    pub(super) fn new(format: MigrateFormat, is_terminal: bool) -> Self {
        Self {
            format,
            has_bar: is_terminal && format == MigrateFormat::Text,
            reader: Mutex::new(Reader::There),
            bar: Mutex::new(Bar::default()),
        }
    }

    /// Tells an event.
    ///
    /// # Errors
    ///
    /// Standard output cannot be written to.
    pub(super) fn tell(&self, event: &Event) -> Result<(), Failure> {
        self.end();
        let line = match self.format {
            MigrateFormat::Text => format!("{}\n", printable(&event.text)),
            MigrateFormat::Json => format!("{}\n", event.json),
        };
        let reader = output::print(&line)?;
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = reader;
        Ok(())
    }

    /// Tells an event where nothing can be done if it cannot be told: the work is worth more than the telling.
    pub(super) fn quietly(&self, event: &Event) {
        if let Err(failure) = self.tell(event) {
            output::warn(&failure.to_string());
        }
    }

    /// Whether anybody still reads.
    pub(super) fn reader(&self) -> Reader {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows how far a migration is, for as long as it is polled.
    pub(super) async fn follow(&self, tally: &Tally) {
        let mut told = None;
        loop {
            tally.changed.notified().await;
            let event = Event::progress(tally);
            if self.has_bar {
                self.draw(tally);
            } else if told.as_ref() != Some(&event.json) {
                self.quietly(&event);
                told = Some(event.json);
            }
            sleep(if self.has_bar { DRAWN } else { TOLD }).await;
        }
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        if self.has_bar {
            let line = self
                .bar
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .gone();
            self.write(&line);
        }
    }

    fn draw(&self, tally: &Tally) {
        let seen = tally.seen();
        let done = seen.rewritten + seen.skipped;
        let all = seen.remaining.map(|left| left + done);
        let speed = format!("{:.0}/s  {}", seen.per_second, amount(seen.bytes));
        let name = printable(&tally.migration);
        let line = self
            .bar
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drawn(&name, done, all, &speed);
        self.write(&line);
    }

    fn write(&self, line: &str) {
        let mut stdout = io::stdout().lock();
        let _ = stdout
            .write_all(line.as_bytes())
            .and_then(|()| stdout.flush());
    }
}
