//! `SetRoster` and `DeleteRoster`: which members must report, and what follows for the covered resources.

use std::sync::Arc;

use synod_model::limits::ROSTERS_MAX;
use synod_model::{
    Current, DeleteRoster, ErrorKind, Refusal, ResourceScope, Revision, Roster, SetRoster,
};

use crate::hashes::roster_hash;
use crate::turn::Turn;
use crate::{Answer, State};

pub(crate) fn set(turn: &mut Turn<'_>, set: &SetRoster) -> Result<Answer, Refusal> {
    let SetRoster {
        scope,
        rule,
        if_revision,
    } = set;
    let state = turn.state();
    let before = state.rosters.get(scope).cloned();
    check_revision(scope, before.as_ref(), *if_revision)?;
    if before.as_ref().is_some_and(|before| before.rule == *rule) {
        return Ok(Answer::Done);
    }
    let metadata = match &before {
        Some(before) => {
            let mut metadata = before.metadata.clone();
            metadata.resource_version = turn.revision();
            metadata.generation += 1;
            metadata
        }
        None => {
            check_room(state)?;
            turn.new_metadata()
        }
    };
    let after = Roster {
        scope: scope.clone(),
        metadata,
        rule: rule.clone(),
    };
    if before
        .as_ref()
        .is_some_and(|before| is_larger(&after, before))
    {
        turn.state().check_quota()?;
    }
    turn.put_roster(after);
    turn.follow_roster(scope, before.as_deref());
    Ok(Answer::Done)
}

pub(crate) fn delete(turn: &mut Turn<'_>, delete: &DeleteRoster) -> Result<Answer, Refusal> {
    let DeleteRoster { scope, if_revision } = delete;
    let Some(before) = turn.state().rosters.get(scope).cloned() else {
        return Err(Roster::not_found(scope, None));
    };
    check_revision(scope, Some(&before), *if_revision)?;
    turn.remove_roster(scope);
    turn.follow_roster(scope, Some(&before));
    Ok(Answer::Done)
}

fn check_revision(
    scope: &ResourceScope,
    before: Option<&Arc<Roster>>,
    expected: Option<Revision>,
) -> Result<(), Refusal> {
    let present = before.map_or(Revision::ZERO, |before| before.metadata.resource_version);
    let Some(expected) = expected.filter(|expected| *expected != present) else {
        return Ok(());
    };
    let Some(before) = before else {
        return Err(Roster::not_found(scope, None));
    };
    let message = format!(
        "roster \"{scope}\": it was last changed at revision {present}, not {expected}: look at it again and decide anew"
    );
    let refusal = Refusal::new(ErrorKind::Conflict, message).with("roster", scope);
    Err(refusal.with_current(Current::Roster(Arc::clone(before))))
}

fn is_larger(after: &Roster, before: &Roster) -> bool {
    roster_hash(after).bytes() > roster_hash(before).bytes()
}

fn check_room(state: &State) -> Result<(), Refusal> {
    if state.rosters.len() >= ROSTERS_MAX {
        let message =
            format!("there are {ROSTERS_MAX} rosters, the most that there can be: delete some");
        return Err(Refusal::new(ErrorKind::Quota, message));
    }
    state.check_quota()
}
