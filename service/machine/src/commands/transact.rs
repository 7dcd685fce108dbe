//! `Transact`: carries out several operations on objects atomically, if all comparisons hold.

use std::collections::BTreeSet;

use synod_model::limits::TRANSACTION_BYTES_MAX;
use synod_model::{Compare, ErrorKind, Operation, Refusal, Transact};

use super::{create_object, delete_object, patch_object, update_object};
use crate::objects::{deletion, write};
use crate::turn::Turn;
use crate::{Answer, State, Written};

pub(crate) fn apply(turn: &mut Turn<'_>, transact: &Transact) -> Result<Answer, Refusal> {
    check_shape(transact)?;
    write::check_fences(turn.state(), &transact.fences)?;
    let state = turn.state();
    if !transact
        .compares
        .iter()
        .all(|compare| holds(state, compare))
    {
        return Ok(Answer::Transacted {
            succeeded: false,
            written: Vec::new(),
        });
    }
    let written = turn.all_or_nothing(|turn| carry_out(turn, &transact.operations))?;
    deletion::collect_own(turn);
    let keys = transact.operations.iter().map(Operation::key);
    let written = keys
        .zip(written)
        .map(|(key, written)| deletion::settled(turn, key, written));
    Ok(Answer::Transacted {
        succeeded: true,
        written: written.collect(),
    })
}

/// A key that occurs twice is refused before the log, and here again: answers name no keys, so they would be ambiguous.
fn check_shape(transact: &Transact) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    let mut keys = transact.operations.iter().map(Operation::key);
    if keys.all(|key| seen.insert(key)) {
        Ok(())
    } else {
        transact.check().into_result()
    }
}

fn holds(state: &State, compare: &Compare) -> bool {
    match compare {
        Compare::ResourceVersion(key, version) => state
            .packed_object(key)
            .is_some_and(|object| object.metadata().resource_version == *version),
        Compare::Exists(key) => state.packed_object(key).is_some(),
        Compare::Absent(key) => state.packed_object(key).is_none(),
        Compare::Selected(resource, version) => {
            let kept = state.state_of(resource);
            kept.and_then(|kept| kept.row.status.selected.as_ref()) == version.as_ref()
        }
    }
}

fn carry_out(turn: &mut Turn<'_>, operations: &[Operation]) -> Result<Vec<Written>, Refusal> {
    let mut written = Vec::new();
    let mut bytes = 0;
    for (i, operation) in operations.iter().enumerate() {
        let size = |turn: &Turn<'_>| {
            let object = turn.state().packed_object(operation.key());
            object.map_or(0, |object| {
                object.data().len() + object.attributes().annotations.bytes()
            })
        };
        bytes += size(turn);
        let tied = tied_to(turn.state(), operation);
        let done = match operation {
            Operation::Create(create) => create_object::carry_out(turn, create),
            Operation::Update(update) => update_object::carry_out(turn, update),
            Operation::Patch(patch) => patch_object::carry_out(turn, patch),
            Operation::Delete(delete) => delete_object::carry_out(turn, delete),
        };
        written.push(done.map_err(|refusal| at_operation(refusal, i))?);
        bytes += size(turn);
        if turn.state().packed_object(operation.key()).is_none() {
            bytes += tied;
        }
        if bytes > TRANSACTION_BYTES_MAX {
            let message = format!(
                "the transaction touches more than {TRANSACTION_BYTES_MAX} bytes of objects at operation {i}: make it smaller"
            );
            return Err(Refusal::new(ErrorKind::TooLarge, message));
        }
    }
    Ok(written)
}

/// The bytes of snapshots that lose a mark if the operation removes its object.
fn tied_to(state: &State, operation: &Operation) -> usize {
    let object = state.packed_object(operation.key());
    object.map_or(0, |object| state.bytes_marked_by(&object.metadata().uid))
}

/// Turns the refusal of one operation into that of the transaction, with the position of the operation.
fn at_operation(mut refusal: Refusal, i: usize) -> Refusal {
    refusal.message = format!("operations[{i}]: {}", refusal.message);
    for violation in &mut refusal.violations {
        *violation = violation.clone().at(&format!("operations[{i}]"));
    }
    refusal.with("operation", i)
}
