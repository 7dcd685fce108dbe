//! `UpdateCollection`: changes the rules that writes to a collection must obey.

use std::sync::Arc;

use synod_model::{Collection, CollectionRules, Refusal, UpdateCollection};

use super::delete_collection::found;
use crate::objects::guarantee::check_can_be_strict;
use crate::turn::Turn;
use crate::{Answer, Written, WrittenHow};

pub(crate) fn apply(turn: &mut Turn<'_>, update: &UpdateCollection) -> Result<Answer, Refusal> {
    let UpdateCollection {
        resource,
        strict_storage_version,
        create_on_update,
        unconditional_update,
        status_subresource,
        preconditions,
    } = update;
    let held = found(turn.state(), resource, |metadata| {
        preconditions.fault_of_update(metadata)
    })?;
    let present = Arc::clone(&held.row);
    let before = present.rules;
    let rules = CollectionRules {
        strict_storage_version: strict_storage_version.unwrap_or(before.strict_storage_version),
        create_on_update: create_on_update.unwrap_or(before.create_on_update),
        unconditional_update: unconditional_update.unwrap_or(before.unconditional_update),
        status_subresource: status_subresource.unwrap_or(before.status_subresource),
    };
    if rules == before {
        let written = Written::collection(WrittenHow::Unchanged, &present);
        return Ok(Answer::Wrote(written));
    }
    if rules.strict_storage_version && !before.strict_storage_version {
        check_can_be_strict(turn.state(), resource)?;
    }
    let mut row = Collection {
        rules,
        ..(*present).clone()
    };
    row.metadata.resource_version = turn.revision();
    row.metadata.generation += 1;
    let written = Written::collection(WrittenHow::Updated, &row);
    turn.put_collection(row);
    Ok(Answer::Wrote(written))
}
