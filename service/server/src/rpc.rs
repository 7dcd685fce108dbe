//! The gRPC services that clients call (`synod.v1`), with the layers around them.
//!
//! A handler does three things: it reads a typed request out of the message, which is the only check of shape; it asks
//! the [`Handle`]; and it makes a message of the answer. Name, deadline, size, admission and metrics are the business of
//! the layers. Errors are [`Refusal`]s until the very last step, where one table makes statuses of them.

mod admission;
mod answers;
mod bodies;
mod calls;
mod cluster;
mod collections;
mod controller_revisions;
mod framing;
mod health;
mod layer;
mod lease_renewals;
mod leases;
mod membership;
mod methods;
mod migrations;
mod objects;
mod pages;
mod renewals;
mod rosters;
mod safety;
mod serve;
mod sessions;
mod storage_versions;
mod timeout;
mod trace;
mod watch;

use std::sync::Arc;

use synod_machine::Answer;
use synod_model::{Refusal, Violations};
use synod_proto::status::to_status;
use tokio::time::Instant;
use tonic::{Request, Response, Status};

use crate::handle::{Asking, Handle};
use crate::limits::DEADLINE_DEFAULT;

#[cfg(test)]
pub(crate) use methods::declare;
pub(crate) use serve::{Serving, serve};

/// Takes a request apart: how it is asked, and what.
fn opened<P>(request: Request<P>) -> (Asking, P) {
    let asking = request.extensions().get::<Asking>().cloned();
    // The layer has put it there.
    let asking = asking.unwrap_or_else(|| Asking {
        deadline: Instant::now() + DEADLINE_DEFAULT,
        trace: Arc::from(""),
        line: None,
    });
    (asking, request.into_inner())
}

/// The typed request of a message.
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
        // Nobody fails without a fault; but if one did, its request was not carried out.
        Ok(()) => Refusal::new(
            synod_model::ErrorKind::InvalidArgument,
            "the request is invalid",
        ),
    }
}

/// The answer to a call.
fn answer<T>(handle: &Handle, result: Result<T, Refusal>) -> Result<Response<T>, Status> {
    result
        .map(Response::new)
        .map_err(|refusal| to_status(handle.with_hint(refusal)))
}

/// The refusal where the log answered something else than the command asks for. Another release may have.
fn unexpected(answer: &Answer) -> Refusal {
    let message = format!("it was executed, and its answer cannot be read: {answer:?}");
    Refusal::new(synod_model::ErrorKind::UnknownOutcome, message)
}
