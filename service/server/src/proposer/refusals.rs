//! The refusals of commands that got no outcome. Each says whether the command was certainly not executed.

use synod_model::limits::COMMAND_BYTES_MAX;
use synod_model::{ErrorKind, Refusal};
use synod_proto::status::key::NOT_EXECUTED;

use crate::limits::{LANE_BYTES_MAX, LANE_REQUESTS_MAX};

pub(super) fn queue_full() -> Refusal {
    not_executed(
        ErrorKind::Overloaded,
        format!(
            "this replica has {LANE_REQUESTS_MAX} requests or {LANE_BYTES_MAX} bytes of requests waiting: try again \
             later, or on another replica"
        ),
    )
}

pub(super) fn too_large(bytes: usize) -> Refusal {
    let message = format!(
        "the request takes {bytes} bytes in the log, and {COMMAND_BYTES_MAX} are allowed: send less at a time"
    );
    Refusal::new(ErrorKind::TooLarge, message)
}

pub(super) fn leader_overloaded() -> Refusal {
    not_executed(
        ErrorKind::Overloaded,
        "the leader has too much to do: try again later",
    )
}

pub(super) fn deadline_before_proposal() -> Refusal {
    not_executed(
        ErrorKind::DeadlineExceeded,
        "the deadline passed while the request waited; it was not executed and never will be",
    )
}

/// `why` says what keeps the request from being executed.
pub(super) fn unavailable(why: &str) -> Refusal {
    not_executed(
        ErrorKind::Unavailable,
        format!("{why}; the request was not executed: try again"),
    )
}

pub(super) fn stopping() -> Refusal {
    unavailable("this replica is shutting down")
}

/// `why` says why the outcome of the request is not known.
pub(super) fn unknown(why: &str) -> Refusal {
    Refusal::new(
        ErrorKind::UnknownOutcome,
        format!(
            "{why}; the request may have been executed, or may still be: call Sessions.GetOutcome with its request id \
             if it has one, or read what it was to change"
        ),
    )
}

fn not_executed(kind: ErrorKind, message: impl Into<String>) -> Refusal {
    Refusal::new(kind, message).with(NOT_EXECUTED, true)
}
