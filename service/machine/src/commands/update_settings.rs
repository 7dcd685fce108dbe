//! `UpdateSettings`: changes the replicated settings, with a precondition if the caller gives one, and does what follows
//! when a switch moves.

use std::sync::Arc;

use synod_model::{
    AbortCause, Current, ErrorKind, Feature, GroupResource, Refusal, Settings, Switch,
    UpdateSettings,
};

use super::succession;
use crate::Answer;
use crate::turn::Turn;
use crate::voting::decide;

pub(crate) fn apply(turn: &mut Turn<'_>, update: &UpdateSettings) -> Result<Answer, Refusal> {
    let settings = turn.state().settings();
    if let Some(expected) = update
        .if_revision
        .filter(|expected| *expected != settings.revision)
    {
        let message = format!(
            "settings: they were last changed at revision {}, not {expected}: look at the present ones and try again",
            settings.revision
        );
        let current = Current::Settings((**settings).clone());
        return Err(Refusal::new(ErrorKind::Conflict, message).with_current(current));
    }
    let after = update.patch.clone().applied_to(settings);
    if after != **settings {
        let before = Arc::clone(settings);
        turn.put_settings(after);
        follow_switches(turn, &before);
    }
    Ok(Answer::Done)
}

/// Does at once what follows from a switch that moved, so that nobody has to find out later what a feature left undone
/// while it was off.
fn follow_switches(turn: &mut Turn<'_>, before: &Settings) {
    let moved = |feature: Feature| {
        let now = turn.state().settings().switch(feature);
        (before.switch(feature) != now).then_some(now)
    };
    let moves = Feature::ALL.map(|feature| (feature, moved(feature)));
    for (feature, now) in moves {
        match (feature, now) {
            (Feature::Votes, Some(Switch::On)) => count_votes(turn),
            (Feature::Leases, Some(Switch::Off)) => succession::suspend(turn),
            (Feature::Leases, Some(Switch::On)) => succession::resume(turn),
            (Feature::Migrations, Some(Switch::On)) => start_migrations(turn),
            (Feature::Votes | Feature::Migrations, Some(Switch::Off) | None)
            | (Feature::Leases, None)
            | (Feature::Objects | Feature::Histories, _) => {}
        }
    }
}

/// Selects what the votes that were cast meanwhile call for.
fn count_votes(turn: &mut Turn<'_>) {
    let reported: Vec<_> = turn.state().storage_versions.keys().cloned().collect();
    for resource in &reported {
        let decided = decide(turn.state(), turn.occasion(), resource, &[]);
        let decided = decided.expect("only a report can be refused, and nothing is reported here");
        if let Some(decided) = decided {
            turn.carry_out(decided);
        }
    }
}

/// Creates the migrations that agreements called for meanwhile. One that somebody has called off is not had back.
fn start_migrations(turn: &mut Turn<'_>) {
    let state = turn.state();
    let is_called_off = |resource: &GroupResource, agreement| {
        state.migrations_of(resource).any(|migration| {
            Some(migration.agreement_revision) == agreement
                && migration.aborted == Some(AbortCause::Requested)
        })
    };
    let resources: Vec<_> = state
        .storage_states
        .iter()
        .filter(|(resource, kept)| !is_called_off(resource, kept.row.status.agreement()))
        .map(|(resource, _)| resource.clone())
        .collect();
    for resource in &resources {
        turn.migrate(resource);
    }
}
