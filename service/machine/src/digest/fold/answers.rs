//! The canonical form of what commands are answered.

use synod_model::Refusal;

use super::migrations::{assumption_number, fold_holder, fold_progress};
use super::values::{fold_resource, fold_version};
use crate::digest::RowHasher;
use crate::digest::objects::fold_written;
use crate::digest::revisions::{fold_history_answer, fold_revision_answer};
use crate::{Answer, Told};

pub(super) fn fold_answer(to: &mut RowHasher, answer: &Answer) {
    match answer {
        Answer::Done => to.number(1),
        Answer::SessionOpened(id) => fold_numbers(to, [2, id.get()]),
        Answer::Joined { epoch, ttl } => fold_numbers(to, [3, epoch.get(), ttl.as_millis()]),
        Answer::Reported(told) => {
            to.number(4);
            to.list(told.iter(), fold_told);
        }
        Answer::MigrationCompleted(assumption) => {
            to.number(27);
            to.option(*assumption, |to, assumption| {
                to.number(assumption_number(assumption))
            });
        }
        Answer::Expired {
            members,
            sessions,
            unreported,
            leases,
            waiters,
            candidates,
            objects,
            observations,
        } => {
            to.number(5);
            for count in [
                members,
                sessions,
                unreported,
                leases,
                waiters,
                candidates,
                objects,
                observations,
            ] {
                to.number(u64::from(*count));
            }
        }
        Answer::Wrote(written) => {
            to.number(20);
            fold_written(to, written);
        }
        Answer::Transacted { succeeded, written } => {
            to.number(21);
            to.flag(*succeeded);
            to.list(written.iter(), fold_written);
        }
        Answer::Collected { steps } => fold_numbers(to, [22, u64::from(*steps)]),
        Answer::ControllerRevision(answer) => {
            to.number(30);
            fold_revision_answer(to, answer);
        }
        Answer::ControllerHistory(answer) => {
            to.number(31);
            fold_history_answer(to, answer);
        }
        Answer::LeaseHeld { token, ttl } => fold_numbers(to, [40, token.get(), ttl.as_millis()]),
        Answer::MigrationStarted(id) => fold_holder(to, 50, id),
        Answer::MigrationClaimed { token, progress } => {
            to.number(51);
            to.number(token.get());
            fold_progress(to, progress);
        }
        Answer::LeaseQueued(ticket) => fold_numbers(to, [41, ticket.get()]),
    }
}

/// An answer that is numbers alone: its own, then those that it says.
fn fold_numbers<const N: usize>(to: &mut RowHasher, numbers: [u64; N]) {
    for number in numbers {
        to.number(number);
    }
}

fn fold_told(to: &mut RowHasher, told: &Told) {
    let Told {
        resource,
        encoding,
        selected,
        selected_revision,
        adopted_revision,
    } = told;
    fold_resource(to, resource);
    to.option(encoding.as_ref(), fold_version);
    to.option(selected.as_ref(), fold_version);
    to.number(selected_revision.get());
    to.option(*adopted_revision, |to, revision| to.number(revision.get()));
}

pub(super) fn fold_refusal(to: &mut RowHasher, refusal: &Refusal) {
    let Refusal {
        kind,
        message,
        violations,
        metadata,
        current,
    } = refusal;
    assert!(current.is_none(), "a kept refusal carries no object");
    to.text(kind.reason());
    to.text(message);
    to.list(violations.iter(), |to, violation| {
        to.text(&violation.to_string())
    });
    to.list(metadata.iter(), |to, (key, value)| {
        to.text(key);
        to.text(value);
    });
}
