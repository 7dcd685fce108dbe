//! `PatchObject`: changes a part of an object's data, on whatever the rest of it is when it is applied.

use std::sync::Arc;

use synod_model::{Content, Current, ErrorKind, PatchObject, Refusal, Violation};

use crate::objects::deletion;
use crate::objects::write::{self, Encoded};
use crate::turn::Turn;
use crate::{Answer, Written};

pub(crate) fn apply(turn: &mut Turn<'_>, patch: &PatchObject) -> Result<Answer, Refusal> {
    let written = carry_out(turn, patch)?;
    deletion::collect_own(turn);
    Ok(Answer::Wrote(written))
}

pub(super) fn carry_out(turn: &mut Turn<'_>, request: &PatchObject) -> Result<Written, Refusal> {
    let PatchObject {
        key,
        patch,
        preconditions,
        fences,
    } = request;
    write::check_fences(turn.state(), fences)?;
    write::collection(turn.state(), key)?;
    let Some(present) = turn.state().object(key).map(Arc::clone) else {
        return Err(write::not_found(key));
    };
    write::check_preconditions(preconditions, &present)?;
    let stored = &present.content;
    if stored.encoding != patch.encoding {
        let message = format!(
            "{key}: it is stored in {}, and the patch was made for {}: make one for the present object",
            stored.encoding, patch.encoding
        );
        return Err(write::conflict(&present, message));
    }
    if !stored.media_type.is_json() {
        let rule = "must be JSON to be patched";
        let violation = Violation::invalid(stored.media_type.as_str(), rule);
        return Err(write::invalid(violation.at("mediaType")));
    }
    // Whoever sees the object can go on: look at why a test failed, or encode it in what is selected and update it.
    let seen = |refusal: Refusal| {
        if [ErrorKind::Conflict, ErrorKind::EncodingNotSelected].contains(&refusal.kind) {
            refusal.with_current(Current::Object(Arc::clone(&present)))
        } else {
            refusal
        }
    };
    let content = Content {
        data: patch.applied_to(&stored.data).map_err(seen)?,
        ..stored.clone()
    };
    let attributes = present.attributes.clone();
    write::replace(
        turn,
        &present,
        &attributes,
        (&content, Encoded::InPart),
        None,
    )
    .map_err(seen)
}
