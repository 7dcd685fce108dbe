//! `UpdateSettings`: changes the replicated settings, with a precondition if the caller gives one, and begins what follows
//! when a switch moves.

use std::sync::Arc;

use synod_model::{Current, ErrorKind, Refusal, UpdateSettings};

use super::follow_switches;
use crate::Answer;
use crate::turn::Turn;

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
        follow_switches::begin(turn, &before);
    }
    Ok(Answer::Done)
}
