//! `ReportMigrationProgress`: a worker reports its progress, and so keeps its claim.

use synod_model::{Migration, Refusal, ReportMigrationProgress};

use super::claimed;
use crate::turn::Turn;
use crate::{Answer, Holder, ProgressRow};

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    report: &ReportMigrationProgress,
) -> Result<Answer, Refusal> {
    let migration = claimed(turn.state(), &report.id, report.token)?.clone();
    let claim = migration.claim.as_ref();
    let claim = claim.expect("who shows its token has a claim");
    let (ttl, walks) = (claim.ttl.duration(), claim.walks);
    turn.extend_deadline(Holder::Claim(report.id.clone()), ttl);
    let now = turn.log_time();
    let kept = turn.state().migration_progress(&report.id);
    let shown_at = kept.map(|kept| kept.shown_at);
    let said = &report.progress;
    let is_news = (said.done, said.estimate) != (migration.done, migration.estimate);
    let may_show = shown_at.is_none_or(|shown| now.since(shown) >= Migration::PROGRESS_INTERVAL);
    let shows = is_news && may_show;
    if shows {
        turn.put_migration(Migration {
            done: said.done,
            estimate: said.estimate,
            ..migration
        });
    }
    turn.put_progress(
        &report.id,
        ProgressRow {
            progress: said.clone(),
            shown_at: shown_at.filter(|_| !shows).unwrap_or(now),
            walks,
        },
    );
    Ok(Answer::Done)
}
