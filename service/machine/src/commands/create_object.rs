//! `CreateObject`: stores a new object under a free key.

use std::sync::Arc;

use synod_model::{CreateObject, Current, Refusal};

use crate::objects::write;
use crate::turn::Turn;
use crate::{Answer, Written};

pub(crate) fn apply(turn: &mut Turn<'_>, create: &CreateObject) -> Result<Answer, Refusal> {
    carry_out(turn, create).map(Answer::Wrote)
}

pub(super) fn carry_out(turn: &mut Turn<'_>, create: &CreateObject) -> Result<Written, Refusal> {
    let CreateObject {
        key,
        attributes,
        content,
        ttl,
        fences,
    } = create;
    write::check_fences(turn.state(), fences)?;
    write::collection(turn.state(), key)?;
    if let Some(present) = turn.state().object(key) {
        let current = Current::Object(Arc::new(present));
        return Err(key.already_exists().with_current(current));
    }
    write::create(turn, key, attributes, content, *ttl)
}
