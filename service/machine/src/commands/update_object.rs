//! `UpdateObject`: replaces an object or, where the collection allows it, creates one.

use synod_model::{Refusal, UpdateObject, Violation};

use crate::objects::deletion;
use crate::objects::write::{self, Encoded};
use crate::turn::Turn;
use crate::{Answer, Written};

pub(crate) fn apply(turn: &mut Turn<'_>, update: &UpdateObject) -> Result<Answer, Refusal> {
    let written = carry_out(turn, update)?;
    deletion::collect_own(turn);
    Ok(Answer::Wrote(written))
}

pub(super) fn carry_out(turn: &mut Turn<'_>, update: &UpdateObject) -> Result<Written, Refusal> {
    let UpdateObject {
        key,
        attributes,
        content,
        ttl,
        preconditions,
        fences,
    } = update;
    write::check_fences(turn.state(), fences)?;
    let rules = write::collection(turn.state(), key)?.row.rules;
    let Some(present) = turn.state().object(key) else {
        // Preconditions refer to an existing object, so an update with any does not create one.
        if rules.create_on_update && preconditions.is_empty() {
            return write::create(turn, key, attributes, content, ttl.of_new());
        }
        return Err(key.not_found());
    };
    write::check_preconditions(preconditions, &present)?;
    if preconditions.resource_version.is_none() && !rules.unconditional_update {
        let rule = "must be specified for an update";
        let violation = Violation::invalid_number(0, rule).at("preconditions.resourceVersion");
        return Err(write::invalid(violation));
    }
    write::replace(turn, &present, attributes, (content, Encoded::Whole), *ttl)
}
