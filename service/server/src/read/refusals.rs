//! The refusals of reads that could not be confirmed.

use synod_model::{ErrorKind, Refusal};
use synod_proto::status::key;

/// What a read that must be current waits for; completes the sentence of [`deadline_exceeded`].
pub(super) const PROOF: &str = "this replica could prove that its state is current";

/// The refusal of a read whose deadline passed before `what`. A read changes nothing, so nothing was executed.
pub(super) fn deadline_exceeded(what: &str) -> Refusal {
    let message = format!("the deadline passed before {what}");
    Refusal::new(ErrorKind::DeadlineExceeded, message).with(key::NOT_EXECUTED, true)
}

/// The refusal of a read that this replica cannot serve now.
pub(super) fn unavailable(why: &str) -> Refusal {
    Refusal::new(
        ErrorKind::Unavailable,
        format!("{why}: try again, or on another replica"),
    )
}
