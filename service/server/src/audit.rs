//! The audit log: a line of JSON for each call that changes something, and for each that is refused for who calls.
//!
//! A line says who has called what, about what, and what has become of it. It holds no data of objects, no token and no key.
//! Lines wait in a bounded queue, so that a slow disk slows no call: what does not fit is counted, and an alarm says so. Half of
//! the queue is for changes alone.
//! Of callers whom nobody knows there are so many lines a second, and then one that says how many were left out.
//! Renewals that are carried out have no line, since they change no object.

mod file;
mod line;
mod strangers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use synod_model::{ErrorKind, Refusal};
use synod_proto::access::{Names, Revised};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use crate::limits::AUDIT_LINES_MAX;
use crate::metrics::SecurityMetrics;
use crate::seams::{Offload, WallClock};
use crate::stop::Stop;
pub(crate) use file::File;
pub(crate) use line::Call;
use line::{Line, Outcome, left_out};
use strangers::Strangers;

/// The most lines that are written at once.
const BATCH: usize = 1_024;

/// How long lines are waited for once the replica ends.
const LINGER: Duration = Duration::from_millis(250);

/// The span in which lines about strangers are counted.
const SECOND: Duration = Duration::from_secs(1);

async fn lingered(stop: &Stop) {
    stop.requested().await;
    tokio::time::sleep(LINGER).await;
}

/// How long the alarm lasts after a line was lost.
const ALARM_MS: u64 = 60 * 60 * 1_000;

/// The file of an audit log that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit log {place} cannot be written: {rule}")]
pub struct AuditFault {
    /// The file.
    pub place: String,
    /// Why not.
    pub rule: String,
}

/// The audit log of a replica. Clones share it; without a file it notes nothing.
#[derive(Clone, Default)]
pub(crate) struct Audit(Option<Arc<AuditParts>>);

struct AuditParts {
    place: PathBuf,
    lines: mpsc::Sender<String>,
    wall: Arc<dyn WallClock>,
    metrics: Arc<SecurityMetrics>,
    strangers: Strangers,
    /// How many lines were lost, and when the last one was, in milliseconds since 1970.
    lost: AtomicU64,
    lost_at: AtomicU64,
}

/// What writes the lines.
pub(crate) struct Writer {
    parts: Arc<AuditParts>,
    lines: mpsc::Receiver<String>,
    file: File,
}

/// A call that changes something and is carried out. Its line is written when that has ended, or when this is dropped: a
/// caller that gives up does not undo what may have been executed.
pub(crate) struct Noted {
    parts: Arc<AuditParts>,
    /// `None` once it is written.
    line: Option<Line>,
}

impl Audit {
    /// Opens the file, to which lines are added.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn file(place: Option<&Path>) -> Result<Option<File>, AuditFault> {
        let open = |place: &Path| {
            File::open(place).map_err(|error| AuditFault {
                place: place.display().to_string(),
                rule: error.to_string(),
            })
        };
        place.map(open).transpose()
    }

    /// The audit log in this file, and what writes to it.
    pub(crate) fn new(
        file: Option<File>,
        wall: &Arc<dyn WallClock>,
        metrics: &Arc<SecurityMetrics>,
    ) -> (Self, Option<Writer>) {
        let Some(file) = file else {
            return (Self(None), None);
        };
        let (lines, queue) = mpsc::channel(AUDIT_LINES_MAX);
        let parts = Arc::new(AuditParts {
            place: file.path().to_owned(),
            lines,
            wall: Arc::clone(wall),
            metrics: Arc::clone(metrics),
            strangers: Strangers::new(),
            lost: AtomicU64::new(0),
            lost_at: AtomicU64::new(0),
        });
        let writer = Writer {
            parts: Arc::clone(&parts),
            lines: queue,
            file,
        };
        (Self(Some(parts)), Some(writer))
    }

    /// Notes a call that is about to change something.
    pub(crate) fn noted(&self, call: Call<'_>, request: &impl Names) -> Option<Noted> {
        let parts = self.0.as_ref()?;
        call.called.is_audited.then(|| Noted {
            line: Some(Line::of(parts.wall.now(), call).about(request)),
            parts: Arc::clone(parts),
        })
    }

    /// Writes that a call was refused for who calls.
    pub(crate) fn denied(&self, call: Call<'_>, request: Option<&dyn Names>, refusal: &Refusal) {
        let Some(parts) = &self.0 else { return };
        if refusal.kind == ErrorKind::Unauthenticated && !parts.strangers.have_room() {
            return parts.metrics.audit_left_out();
        }
        let line = Line::of(parts.wall.now(), call);
        let line = match request {
            Some(request) => line.about(request),
            None => line,
        };
        // Whoever is refused a thousand times does not push out the lines of what was changed.
        if parts.lines.capacity() <= AUDIT_LINES_MAX / 2 {
            return parts.lose(1);
        }
        parts.write(&line.with(Outcome::denied(refusal)));
    }

    /// What is wrong with the audit log, as a sentence for people.
    pub(crate) fn alarm(&self) -> Option<String> {
        let parts = self.0.as_ref()?;
        let lost = parts.lost.load(Ordering::Relaxed);
        let since = parts
            .wall
            .now()
            .as_millis()
            .saturating_sub(parts.lost_at.load(Ordering::Relaxed));
        (lost > 0 && since < ALARM_MS).then(|| {
            let place = parts.place.display();
            format!(
                "{lost} lines of the audit log were lost since the start, the last one within an hour: {place} cannot be \
                 written, or not fast enough; make room on its disk, or give it a faster one"
            )
        })
    }
}

impl Noted {
    /// Writes what has become of the call.
    pub(crate) fn end<A: Revised>(mut self, answer: &Result<A, Refusal>) {
        self.write(match answer {
            Ok(answer) => Outcome::done(answer.revision()),
            Err(refusal) => Outcome::refused(refusal),
        });
    }

    fn write(&mut self, outcome: Outcome) {
        if let Some(line) = self.line.take() {
            self.parts.write(&line.with(outcome));
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.write(Outcome::unknown());
    }
}

impl AuditParts {
    fn write(&self, line: &Line) {
        match self.lines.try_send(line.to_text()) {
            Ok(()) => {}
            Err(_) => self.lose(1),
        }
    }

    /// Begins another second of lines about strangers. Returns whether it has noted that some were left out of the last.
    fn sum_up(&self) -> bool {
        let count = self.strangers.next_second();
        if count == 0 {
            return false;
        }
        if self
            .lines
            .try_send(left_out(self.wall.now(), count))
            .is_err()
        {
            self.lose(1);
        }
        true
    }

    fn lose(&self, lines: usize) {
        self.lost.fetch_add(lines as u64, Ordering::Relaxed);
        self.lost_at
            .store(self.wall.now().as_millis(), Ordering::Relaxed);
        self.metrics.audit_dropped(lines);
    }
}

impl Writer {
    /// Writes what is noted until `stop`, and then what was noted by then.
    pub(crate) async fn run(mut self, offload: Offload, stop: Stop) {
        let mut batch = Vec::new();
        let mut seconds = tokio::time::interval(SECOND);
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let count = tokio::select! {
                biased;
                _ = seconds.tick() => {
                    self.parts.sum_up();
                    continue;
                }
                count = self.lines.recv_many(&mut batch, BATCH) => count,
                // Calls that are cut off then have lines, too.
                () = lingered(&stop) => 0,
            };
            if count == 0 && !self.parts.sum_up() {
                return;
            }
            let text: String = batch.drain(..).collect();
            let mut file = self.file;
            let (file, written) = offload
                .run(move || {
                    let written = file.write(text.as_bytes());
                    (file, written)
                })
                .await;
            self.file = file;
            match written {
                Ok(()) => self.parts.metrics.audit_written(count),
                Err(error) => {
                    tracing::warn!(%error, lines = count, "lines of the audit log were lost");
                    self.parts.lose(count);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use synod_policy::Right;
    use synod_proto::v1;

    use super::*;
    use crate::access::{Called, Standing};
    use crate::metrics::Metrics;
    use crate::seams::SystemWallClock;
    use crate::stop::stop;

    /// A log in a new folder, and what writes to it.
    fn log() -> (tempfile::TempDir, Audit, Writer) {
        let folder = tempfile::TempDir::new().unwrap();
        let file = Audit::file(Some(&folder.path().join("audit.log"))).unwrap();
        let wall: Arc<dyn WallClock> = Arc::new(SystemWallClock);
        let (audit, writer) = Audit::new(file, &wall, &Metrics::new(|| 0).security);
        (folder, audit, writer.unwrap())
    }

    fn delete(sequence: u64) -> v1::ObjectsDeleteRequest {
        v1::ObjectsDeleteRequest {
            request_id: Some(v1::RequestId {
                session: 7,
                sequence,
                ..v1::RequestId::default()
            }),
            ..v1::ObjectsDeleteRequest::default()
        }
    }

    fn call(standing: &Standing) -> Call<'_> {
        Call {
            trace: "a",
            peer: "127.0.0.1:1",
            standing,
            called: Called {
                path: "synod.v1.Objects/Delete",
                right: Right::Write,
                is_audited: true,
            },
        }
    }

    #[tokio::test]
    async fn what_the_queue_has_no_room_for_is_counted_and_an_alarm_says_so() {
        let (folder, audit, writer) = log();
        let standing = Standing::of_anybody();
        let noted = |sequence: usize| {
            drop(audit.noted(call(&standing), &delete(sequence as u64)));
        };
        // The half that is for changes alone takes no refusal.
        (1..=AUDIT_LINES_MAX / 2).for_each(noted);
        assert_eq!(audit.alarm(), None);
        let refusal = Refusal::new(ErrorKind::PermissionDenied, "no");
        audit.denied(call(&standing), None, &refusal);
        assert!(
            audit
                .alarm()
                .unwrap()
                .starts_with("1 lines of the audit log were lost")
        );
        (AUDIT_LINES_MAX / 2 + 1..=AUDIT_LINES_MAX + 2).for_each(noted);
        assert!(
            audit
                .alarm()
                .unwrap()
                .starts_with("3 lines of the audit log were lost")
        );

        let (stopper, stop) = stop();
        stopper.stop();
        writer.run(Offload::Inline, stop).await;
        let text = std::fs::read_to_string(folder.path().join("audit.log")).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ids: Vec<&str> = lines
            .iter()
            .filter_map(|line| line["request_id"].as_str())
            .collect();
        assert_eq!(ids.len(), AUDIT_LINES_MAX);
        assert_eq!(
            (ids[0], ids[AUDIT_LINES_MAX - 1]),
            ("7/1", format!("7/{AUDIT_LINES_MAX}").as_str())
        );
        assert!(lines.iter().all(|line| line["outcome"] == "unknown"));
    }
}
