//! `Adopt`: a voter's permits for the older version are drained; it encodes the selected version.

use synod_model::{Adopt, ErrorKind, Refusal};

use crate::hashes::said_by_adoption;
use crate::turn::Turn;
use crate::voting::{Cause, Occasion, Said, decide};
use crate::{Answer, StatementRow};

pub(crate) fn apply(turn: &mut Turn<'_>, adopt: &Adopt) -> Result<Answer, Refusal> {
    let state = turn.state();
    let said = StatementRow {
        number: adopt.number,
        content: said_by_adoption(adopt),
    };
    let member = state.heard(&adopt.member, adopt.epoch, said)?;
    let version = state.storage_versions.get(&adopt.resource);
    let entry = version
        .and_then(|version| version.entries.get(&adopt.member))
        .filter(|_| member.reported);
    if !entry.is_some_and(|entry| entry.is_voting()) {
        return Err(Refusal::new(
            ErrorKind::NotFound,
            format!(
                "resource \"{}\": member \"{}\" has no voting entry for it: report one before adopting",
                adopt.resource, adopt.member
            ),
        )
        .with("resource", adopt.resource.storage_version_name()));
    }
    check_selected(turn, adopt)?;
    let occasion = Occasion {
        cause: Some(Cause::Member(&adopt.member)),
        ..turn.occasion()
    };
    let decided = decide(
        turn.state(),
        occasion,
        &adopt.resource,
        &[(&adopt.member, Said::Adopts)],
    )?;
    turn.take_statement(&adopt.member, said);
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    Ok(Answer::Done)
}

/// Refuses unless the present selection is adopted: it may have moved while the caller drained.
fn check_selected(turn: &Turn<'_>, adopt: &Adopt) -> Result<(), Refusal> {
    let kept = turn
        .state()
        .state_of(&adopt.resource)
        .expect("a reported resource has a storage state");
    let (selected, revision) = (&kept.row.status.selected, kept.row.status.selected_revision);
    if selected.is_some() && revision == adopt.selected_revision {
        return Ok(());
    }
    let moved = Refusal::new(
        ErrorKind::Conflict,
        format!(
            "resource \"{}\": selected_revision is {revision}, not {}: look at what is selected now, drain for that, \
             and adopt it",
            adopt.resource, adopt.selected_revision
        ),
    )
    .with("resource", adopt.resource.storage_version_name())
    .with("selected_revision", revision.to_string());
    Err(match selected {
        Some(selected) => moved.with("selected_version", selected.as_str()),
        None => moved,
    })
}
