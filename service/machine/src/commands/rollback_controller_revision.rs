//! `RollbackControllerRevision`: makes an older snapshot the newest of its history again.

use synod_model::{
    ControllerRevision, ErrorKind, Refusal, RollbackControllerRevision, RollbackTarget,
};

use super::controller_history::Draft;
use crate::Answer;
use crate::outcome::{RevisionAnswer, RevisionOutcome};
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    rollback: &RollbackControllerRevision,
) -> Result<Answer, Refusal> {
    let mut draft = Draft::adopting(turn.state(), &rollback.history)?;
    draft.check_newest(rollback.if_newest)?;
    let target = target(&draft, &rollback.to).ok_or_else(|| not_found(rollback))?;
    let (name, mut number) = (target.name(), target.number);
    let is_newest = draft
        .newest()
        .is_some_and(|row| row.key.name() == name.as_str());
    let outcome = if is_newest {
        RevisionOutcome::Unchanged
    } else {
        number = draft.next_number()?;
        draft.renumber(&name, number);
        RevisionOutcome::RolledBack
    };
    let history = draft.carry_out(turn);
    Ok(Answer::ControllerRevision(RevisionAnswer {
        name,
        number,
        outcome,
        collision_count: 0,
        history,
    }))
}

fn target<'a>(draft: &'a Draft, to: &RollbackTarget) -> Option<&'a ControllerRevision> {
    let mut newest_first = draft.rows().rev();
    match to {
        RollbackTarget::Previous => newest_first.nth(1),
        RollbackTarget::Number(number) => newest_first.find(|row| row.number == *number),
        RollbackTarget::Name(name) => newest_first.find(|row| row.key.name() == name.as_str()),
    }
}

fn not_found(rollback: &RollbackControllerRevision) -> Refusal {
    let owner = &rollback.history.owner;
    let what = match &rollback.to {
        RollbackTarget::Previous => "nothing before its newest snapshot".to_owned(),
        RollbackTarget::Number(number) => format!("no snapshot with the number {number}"),
        RollbackTarget::Name(name) => format!("no snapshot \"{name}\""),
    };
    let message = format!(
        "the history of {} \"{}/{}\" has {what}",
        owner.kind, rollback.history.namespace, owner.name
    );
    Refusal::new(ErrorKind::NotFound, message)
}
