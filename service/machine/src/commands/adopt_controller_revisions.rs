//! `AdoptControllerRevisions`: an owner becomes the controller of snapshots that have none.

use synod_model::{
    AdoptControllerRevisions, ControllerHistory, Current, ErrorKind, ObjectName, Preconditions,
    Refusal,
};

use super::controller_history::{Draft, found};
use crate::Answer;
use crate::controller_revisions::key;
use crate::outcome::HistoryAnswer;
use crate::turn::Turn;

pub(crate) fn apply(
    turn: &mut Turn<'_>,
    adopt: &AdoptControllerRevisions,
) -> Result<Answer, Refusal> {
    let answer = match &adopt.name {
        Some(name) => adopt_one(turn, &adopt.history, name)?,
        None => {
            let all = &turn.state().controller_revisions;
            let mut draft = Draft::empty();
            draft.adopt(all.adoptable(&adopt.history), &adopt.history);
            draft.carry_out(turn)
        }
    };
    Ok(Answer::ControllerHistory(answer))
}

fn adopt_one(
    turn: &mut Turn<'_>,
    history: &ControllerHistory,
    name: &ObjectName,
) -> Result<HistoryAnswer, Refusal> {
    let key = key(&history.namespace, name);
    let present = found(turn.state(), &key, &Preconditions::default())?;
    if let Some(controller) = &present.controller {
        if controller.uid == history.owner.uid {
            return Ok(HistoryAnswer::default());
        }
        let message = format!(
            "attempt to adopt revision owned by {} \"{}\" (uid {}): it must release \"{key}\" first",
            controller.kind, controller.name, controller.uid
        );
        let current = Current::ControllerRevision((**present).clone());
        return Err(Refusal::new(ErrorKind::Conflict, message).with_current(current));
    }
    let mut row = (**present).clone();
    row.controller = Some(history.owner.clone());
    row.metadata.resource_version = turn.revision();
    turn.put_controller_revision(row);
    Ok(HistoryAnswer {
        adopted: 1,
        ..HistoryAnswer::default()
    })
}
