//! `PatchObject`: changes a part of an object, whatever the rest is when the patch is applied.

use std::sync::Arc;

use synod_model::{Content, Current, ErrorKind, Object, Patch, PatchObject, Refusal, Violation};

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
        data,
        metadata,
        ttl,
        preconditions,
        fences,
    } = request;
    write::check_fences(turn.state(), fences)?;
    write::collection(turn.state(), key)?;
    let Some(present) = turn.state().object(key) else {
        return Err(key.not_found());
    };
    write::check_preconditions(preconditions, &present)?;
    let content = match data {
        Some(patch) => patched(patch, &present)?,
        None => present.content.clone(),
    };
    let attributes = match metadata {
        Some(patch) => patch
            .applied_to(&present)
            .map_err(|refusal| seen(refusal, &present))?,
        None => present.attributes.clone(),
    };
    let content = (&content, Encoded::InPart);
    write::replace(turn, &present, &attributes, content, *ttl)
        .map_err(|refusal| seen(refusal, &present))
}

/// The stored data with the patch applied.
fn patched(patch: &Patch, present: &Object) -> Result<Content, Refusal> {
    let stored = &present.content;
    if stored.encoding != patch.encoding {
        let why = format_args!(
            "it is stored in {}, and the patch was made for {}: make one for the present object",
            stored.encoding, patch.encoding
        );
        return Err(write::conflict(present, why));
    }
    if !stored.media_type.is_json() {
        let rule = "must be JSON to be patched";
        let violation = Violation::invalid(stored.media_type.as_str(), rule);
        return Err(write::invalid(violation.at("mediaType")));
    }
    let data = patch.applied_to(&stored.data);
    Ok(Content {
        data: data.map_err(|refusal| seen(refusal, present))?,
        ..stored.clone()
    })
}

/// Adds the present object: the caller sees why a test failed, or can encode it as selected and update it.
fn seen(refusal: Refusal, present: &Object) -> Refusal {
    if refusal.kind == ErrorKind::Conflict {
        return write::conflict(present, refusal.message);
    }
    if refusal.kind == ErrorKind::EncodingNotSelected {
        return refusal.with_current(Current::Object(Arc::new(present.clone())));
    }
    refusal
}
