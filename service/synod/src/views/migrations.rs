//! Migrations as tables.

use serde_json::Value;
use synod_client::json;
use synod_client::{
    AbortCause, Migration, MigrationPage, MigrationReason, MigrationView, WallTime,
};

use super::or_unset;
use crate::output::{Document, Listed, age, printable};

const COLUMNS: [&str; 9] = [
    "Name", "Target", "Reason", "Phase", "Assumes", "Done", "Estimate", "Worker", "Age",
];
const MORE_COLUMNS: [&str; 5] = ["Alias", "Agreement", "Failures", "Why", "UID"];

/// `synod migrations list`.
pub(crate) fn migrations(page: &MigrationPage, now: WallTime) -> Document {
    document(json::of(page), &page.items, now)
}

/// `synod migrations get`, with the current progress.
pub(crate) fn migration(view: &MigrationView, now: WallTime) -> Document {
    let mut shown = view.migration.clone();
    if let Some(progress) = &view.progress {
        (shown.done, shown.estimate) = (progress.done, progress.estimate);
    }
    document(json::of(view), [&shown], now)
}

/// Why a migration was aborted.
pub(crate) const fn cause(cause: AbortCause) -> &'static str {
    match cause {
        AbortCause::NoAgreement => "no agreement any more",
        AbortCause::AgreementMoved => "something else was agreed on",
        AbortCause::Requested => "called off",
        AbortCause::StorageUnknown => "what is stored became unknown",
    }
}

fn document<'a>(
    value: Value,
    items: impl IntoIterator<Item = &'a Migration>,
    now: WallTime,
) -> Document {
    let listed = items.into_iter().map(|item| Listed {
        name: item.id.to_string(),
        cells: cells(item, now),
        more: more_cells(item),
    });
    Document::list(value, (&COLUMNS, &MORE_COLUMNS), listed)
}

fn cells(item: &Migration, now: WallTime) -> Vec<String> {
    let reason = match item.reason {
        MigrationReason::Agreement => "agreement",
        MigrationReason::Manual => "manual",
        MigrationReason::RewriteAll => "rewrite-all",
    };
    let worker = item.claim.as_ref().map(|claim| claim.worker.as_str());
    vec![
        item.id.to_string(),
        item.target.to_string(),
        reason.to_owned(),
        item.phase.to_string(),
        assumption_names(item),
        item.done.to_string(),
        or_unset(item.estimate),
        or_unset(worker.map(printable)),
        age(item.metadata.created.as_millis(), now.as_millis()),
    ]
}

fn more_cells(item: &Migration) -> Vec<String> {
    let failure = item.failure.as_ref();
    let failure = failure.map(|failure| printable(failure.reason.as_str()));
    let aborted = item.aborted.map(|why| cause(why).to_owned());
    vec![
        or_unset(item.alias.as_ref()),
        item.agreement_revision.to_string(),
        item.failures.to_string(),
        or_unset(aborted.or(failure).or(assumed(item))),
        item.metadata.uid.to_string(),
    ]
}

/// The assumptions of the success by their names; `-` if there is none.
fn assumption_names(migration: &Migration) -> String {
    let assumptions = migration.all_assumptions();
    let names: Vec<&str> = assumptions.iter().map(|it| it.as_str()).collect();
    or_unset((!names.is_empty()).then(|| names.join(",")))
}

/// What the success assumes, in words. A target of which only the hash is known was observed.
pub(crate) fn assumed(migration: &Migration) -> Option<String> {
    let observed = migration.target.version.is_none();
    let assumptions = migration.all_assumptions();
    let sentences: Vec<&str> = assumptions.iter().map(|it| it.sentence(observed)).collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}
