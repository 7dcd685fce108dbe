//! `synod migrations watch`: follows a migration to its end.

use std::time::Duration;

use synod_client::{Client, ErrorKind, Migration, MigrationId, MigrationPhase, ObjectKind};
use tokio::time::Instant;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, views};

/// Prints the progress of a migration, a line for each change, until it has ended.
pub(super) async fn run(client: &Client, id: &MigrationId) -> Result<Exit, Failure> {
    let reflector = client.reflect(vec![ObjectKind::Migration]).await?;
    let mut speed = Speed::default();
    let mut last = None;
    loop {
        // The revision is read first: a change after it is looked at once more, and none is missed.
        let revision = reflector.revision();
        let Some(migration) = reflector.migration(id) else {
            let message = format!("migration {id} does not exist, or it was removed");
            return Err(Failure::of(ErrorKind::NotFound, message));
        };
        if last.as_ref() != Some(&migration) {
            speed.take(migration.done, Instant::now());
            output::print(&line(&migration, speed.per_second()))?;
            if let Some(exit) = ended(&migration) {
                return Ok(exit);
            }
            last = Some(migration);
        }
        reflector.changed(revision).await?;
    }
}

/// The exit code for a migration that does not go on by itself; `None` while it does.
pub(super) fn ended(migration: &Migration) -> Option<Exit> {
    match migration.phase {
        MigrationPhase::Pending | MigrationPhase::Running => None,
        MigrationPhase::Succeeded => Some(Exit::Ok),
        MigrationPhase::Failed if migration.retry_after().is_some() => None,
        MigrationPhase::Failed | MigrationPhase::Aborted => Some(Exit::Failure),
    }
}

/// The rate of one worker's work, from its first and its last progress that was shown.
#[derive(Debug, Default)]
pub(super) struct Speed {
    first: Option<(u64, Instant)>,
    last: Option<(u64, Instant)>,
}

impl Speed {
    pub(super) fn take(&mut self, done: u64, at: Instant) {
        // If the count falls, a worker has begun again, and the rate is counted from there.
        if self.last.is_none_or(|(before, _)| done < before) {
            self.first = Some((done, at));
        }
        self.last = Some((done, at));
    }

    /// Objects in a second; `None` until some were rewritten.
    pub(super) fn per_second(&self) -> Option<f64> {
        let ((before, since), (now, until)) = self.first.zip(self.last)?;
        let seconds = until.duration_since(since).as_secs_f64();
        // Counts of objects are far below 2^52.
        (now > before && seconds > 0.0).then(|| (now - before) as f64 / seconds)
    }
}

/// The line for a migration: name, phase, objects done and estimated, and if it is known the rate and the time left.
pub(super) fn line(migration: &Migration, per_second: Option<f64>) -> String {
    let mut parts = vec![migration.id.to_string(), migration.phase.to_string()];
    let done = migration.done;
    parts.push(match migration.estimate {
        None => format!("{done} done"),
        Some(all) => format!("{done}/{all} done"),
    });
    if let Some(rate) = per_second.filter(|_| migration.phase == MigrationPhase::Running) {
        parts.push(format!("{rate:.0}/s"));
        let left = migration.estimate.map(|all| all.saturating_sub(done));
        if let Some(left) = left {
            let left = Duration::try_from_secs_f64(left as f64 / rate).unwrap_or(Duration::MAX);
            parts.push(format!("{}s left", left.as_secs()));
        }
    }
    if let Some(claim) = &migration.claim {
        parts.push(format!("by {}", output::printable(claim.worker.as_str())));
    }
    if let (MigrationPhase::Failed, Some(failure)) = (migration.phase, &migration.failure) {
        parts.push(output::printable(failure.reason.as_str()));
    }
    parts.extend(migration.aborted.map(|why| views::cause(why).to_owned()));
    parts.extend(views::assumed(migration));
    parts.join("  ") + "\n"
}

#[cfg(test)]
mod tests;
