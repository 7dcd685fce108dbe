//! `DeleteObject`: deletes an object, or marks it while it has finalizers, or redirects a deletion under way.

use synod_model::{DeleteObject, Refusal};

use crate::objects::{deletion, write};
use crate::turn::Turn;
use crate::{Answer, Written};

pub(crate) fn apply(turn: &mut Turn<'_>, delete: &DeleteObject) -> Result<Answer, Refusal> {
    let written = carry_out(turn, delete)?;
    deletion::collect_own(turn);
    Ok(Answer::Wrote(deletion::settled(turn, &delete.key, written)))
}

pub(super) fn carry_out(turn: &mut Turn<'_>, delete: &DeleteObject) -> Result<Written, Refusal> {
    let DeleteObject {
        key,
        propagation,
        preconditions,
        fences,
    } = delete;
    write::check_fences(turn.state(), fences)?;
    write::collection(turn.state(), key)?;
    let Some(present) = turn.state().object(key) else {
        return Err(key.not_found());
    };
    if let Some(fault) = preconditions.fault_of_delete(&present.metadata) {
        return Err(write::conflict(&present, fault));
    }
    let how = deletion::delete(turn, &present, *propagation);
    let after = turn.state().object(key);
    Ok(after.map_or_else(
        || Written::deleted(turn.revision(), &present),
        |object| Written::of(how, &object),
    ))
}
