//! `ResetStorageStates`: makes what is persisted unknown again, except for what is written now.
//!
//! Of keys and features what is persisted stays, and what is unknown is added: whoever lacks one of these keys or levels must
//! be refused still, and no level is unlearned. Of a version that is served both what is selected and the date stay.

use synod_model::{AbortCause, ErrorKind, GroupResource, Persisted, Refusal, ResetStorageStates};

use crate::turn::Turn;
use crate::voting::{Anew, reconsider};
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, reset: &ResetStorageStates) -> Result<Answer, Refusal> {
    let states = &turn.state().storage_states;
    let resources: Vec<GroupResource> = match &reset.resource {
        None => states.keys().cloned().collect(),
        Some(resource) if states.contains_key(resource) => vec![resource.clone()],
        Some(resource) => {
            return Err(Refusal::new(
                ErrorKind::NotFound,
                format!(
                    "resource \"{resource}\" has no storage state, so there is nothing to reset"
                ),
            )
            .with("resource", resource.storage_version_name()));
        }
    };
    for resource in &resources {
        doubt(turn, resource);
    }
    Ok(Answer::Done)
}

/// Makes what is persisted of a resource unknown, and aborts its migrations.
pub(super) fn doubt(turn: &mut Turn<'_>, resource: &GroupResource) {
    let state = turn.state();
    let kind = state.topic_kind(resource);
    let mut persisted = state.demanded(resource);
    if kind.always_enforces_persisted() {
        for kept in &state.status(resource).persisted {
            kept.clone().join(&mut persisted);
        }
    }
    for counted in state.counted(resource) {
        counted.join(&mut persisted);
    }
    persisted.insert(Persisted::Unknown);
    let is_reported = state.is_reported(resource);
    let anew = Anew {
        persisted,
        unselects: !is_reported && !kind.keeps_its_selection(),
        // Only another observation, or a reset in place of one, removes an observation that contradicts members.
        forgets_observation: is_reported,
        migrated: None,
    };
    let decided = reconsider(state, turn.occasion(), resource, anew);
    if is_reported {
        turn.clear_deadline(&Holder::Observation(resource.clone()));
    }
    // A worker may have missed objects that nothing is known of.
    turn.abort_unfinished(resource, AbortCause::StorageUnknown);
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    turn.migrate(resource);
}
