//! `UpdateCollection`: changes the rules that writes to a collection must obey, or corrects its kind.

use std::sync::Arc;

use synod_model::{Collection, CollectionRules, ErrorKind, Kind, Refusal, UpdateCollection};

use super::create_collection::check_kind_is_free;
use super::delete_collection::found;
use crate::objects::Held;
use crate::objects::guarantee::check_can_be_strict;
use crate::turn::Turn;
use crate::{Answer, State, Written, WrittenHow};

pub(crate) fn apply(turn: &mut Turn<'_>, update: &UpdateCollection) -> Result<Answer, Refusal> {
    let UpdateCollection {
        resource,
        strict_storage_version,
        create_on_update,
        unconditional_update,
        status_subresource,
        kind,
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
    let correction = kind.as_ref().filter(|kind| **kind != present.kind);
    if rules == before && correction.is_none() {
        let written = Written::collection(WrittenHow::Unchanged, &present);
        return Ok(Answer::Wrote(written));
    }
    if let Some(kind) = correction {
        check_correction(turn.state(), held, kind)?;
    }
    if rules.strict_storage_version && !before.strict_storage_version {
        check_can_be_strict(turn.state(), resource)?;
    }
    let mut row = Collection {
        rules,
        ..(*present).clone()
    };
    if let Some(kind) = correction {
        row.kind = kind.clone();
    }
    row.metadata.resource_version = turn.revision();
    row.metadata.generation += 1;
    let written = Written::collection(WrittenHow::Updated, &row);
    turn.put_collection(row);
    Ok(Answer::Wrote(written))
}

/// Refuses another kind for a collection that holds objects: the hash of their encoding and the references of their dependents
/// name the kind that they were written with. Dependents that a deleted owner has left are found by its uid.
fn check_correction(state: &State, held: &Held, kind: &Kind) -> Result<(), Refusal> {
    let Collection {
        resource,
        kind: present,
        ..
    } = &*held.row;
    let objects = held.len();
    if objects > 0 {
        let message = format!(
            "collection {} holds {objects} objects, which were written as {present}: delete them first, and then correct the \
             kind to {kind}",
            resource.qualified()
        );
        return Err(Refusal::new(ErrorKind::Conflict, message).with("objects", objects));
    }
    check_kind_is_free(state, resource, kind)
}
