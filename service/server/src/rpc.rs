//! The gRPC services that clients call (`synod.v1`), with the layers around them.
//!
//! A handler does three things: it converts the message to a typed request, which is the only check of its shape; it
//! calls the [`Handle`](crate::handle::Handle); and it converts the answer to a message. Trace id, deadline, size, admission and metrics are
//! handled by the gate in front of them. Errors are [`Refusal`]s until the last step, where one table converts them to statuses.

mod admission;
mod agreement;
mod answers;
mod backups;
mod bodies;
mod calls;
mod cluster;
mod collections;
mod controller_revisions;
#[cfg(test)]
pub(crate) mod costs;
mod framing;
mod front;
mod gate;
mod handlers;
mod health;
mod itself;
mod layer;
mod lease_renewals;
mod leases;
mod membership;
mod methods;
mod migrations;
mod objects;
mod pages;
mod passing;
mod pipeline;
mod renewals;
mod rosters;
mod safety;
mod serve;
mod sessions;
mod spans;
mod storage_versions;
mod streams;
mod timeout;
mod trace;
mod unary;
mod upgrade;
mod watch;

use synod_machine::Answer;
use synod_model::{Refusal, Violations};

pub use front::{Events, Front, InProgress, Origin};
#[cfg(test)]
pub(crate) use methods::declare;
pub(crate) use serve::{Serving, serve};

/// Converts a message to its typed request.
fn typed<T, P>(message: P) -> Result<T, Refusal>
where
    T: TryFrom<P, Error = Violations>,
{
    T::try_from(message).map_err(refused)
}

/// The refusal of a message with these faults.
fn refused(violations: Violations) -> Refusal {
    match violations.into_result() {
        Err(refusal) => refusal,
        // A failed conversion always has a fault; if it had none, the request was not executed either.
        Ok(()) => Refusal::new(
            synod_model::ErrorKind::InvalidArgument,
            "the request is invalid",
        ),
    }
}

/// The refusal when a command's answer has another type than expected, which another release may have written.
fn unexpected(answer: &Answer) -> Refusal {
    let message = format!("it was executed, and its answer cannot be read: {answer:?}");
    Refusal::new(synod_model::ErrorKind::UnknownOutcome, message)
}
