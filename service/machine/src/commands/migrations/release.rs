//! `ReleaseMigration`: a worker gives its claim back before it has run out, so that another one need not wait for that.
//!
//! That is no failure: nothing is counted, and no pause begins. What was reported last stays beside the migration, which
//! shows it now, since nobody says any more how far it is.

use synod_model::{Migration, MigrationPhase, Refusal, ReleaseMigration};

use super::claimed;
use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, release: &ReleaseMigration) -> Result<Answer, Refusal> {
    let state = turn.state();
    let migration = claimed(state, &release.id, release.token)?.clone();
    let (done, estimate) = state.shown_progress(&migration);
    turn.clear_deadline(&Holder::Claim(release.id.clone()));
    turn.put_migration(Migration {
        phase: MigrationPhase::Pending,
        claim: None,
        done,
        estimate,
        ..migration
    });
    Ok(Answer::Done)
}
