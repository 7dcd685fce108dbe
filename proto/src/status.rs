//! The one table between error kinds and gRPC statuses, both ways. Servers and clients use it.
//!
//! [`to_status`] and [`from_status`] carry a [`Refusal`] over a connection. A status that Synod did not write (a proxy
//! did, or the gRPC library when a connection broke) becomes a kind that claims no more than is certain.

mod details;
pub mod key;

use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use prost::Message as _;
use synod_model::{ErrorKind, Refusal, Verdict};
use tonic::{Code, ConnectError, Status};
use tonic_types::pb;

use details::Details;

pub use details::DOMAIN;

/// The gRPC code of a kind.
#[must_use]
pub const fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::InvalidArgument => Code::InvalidArgument,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::AlreadyExists => Code::AlreadyExists,
        ErrorKind::Conflict => Code::Aborted,
        ErrorKind::NotAMember
        | ErrorKind::StaleEpoch
        | ErrorKind::NotDecodable
        | ErrorKind::EncodingNotSelected
        | ErrorKind::Immutable
        | ErrorKind::NoAgreement
        | ErrorKind::Draining
        | ErrorKind::RequestExpired
        | ErrorKind::SwitchedOff => Code::FailedPrecondition,
        ErrorKind::Compacted | ErrorKind::FutureRevision => Code::OutOfRange,
        ErrorKind::TooLarge | ErrorKind::Quota | ErrorKind::Overloaded => Code::ResourceExhausted,
        ErrorKind::Unavailable => Code::Unavailable,
        // Not UNAVAILABLE or ABORTED: there are libraries and proxies that send a request again on these.
        ErrorKind::UnknownOutcome => Code::Unknown,
        ErrorKind::DeadlineExceeded => Code::DeadlineExceeded,
        ErrorKind::Unauthenticated => Code::Unauthenticated,
        ErrorKind::PermissionDenied => Code::PermissionDenied,
        ErrorKind::DataLoss => Code::DataLoss,
    }
}

/// The status that carries a refusal: its code by the table, and in its details all that fits.
///
/// For a kind that is never executed the metadata says so, whether or not the refusal does.
#[must_use]
pub fn to_status(mut refusal: Refusal) -> Status {
    if refusal.kind.verdict() == Verdict::NotExecuted {
        refusal = refusal.with(key::NOT_EXECUTED, true);
    }
    refusal = with_execution(refusal);
    let message = details::cut(&refusal.message);
    let details = details::encode(code(refusal.kind), &message, &refusal);
    Status::with_details(code(refusal.kind), message, details)
}

/// The refusal that a status carries; for a status that Synod did not write, one that claims no more than is certain.
#[must_use]
pub fn from_status(status: &Status) -> Refusal {
    let details = Details::decode(status.details());
    let mut refusal = match (details.kind, &details.unknown) {
        (Some(kind), _) => Refusal::new(kind, with_causes(status)),
        (None, Some(reason)) => later(reason, &with_causes(status), &details.metadata),
        (None, None) if status.code() == Code::Unimplemented => {
            Refusal::new(foreign(status), unimplemented(status))
        }
        (None, None) => Refusal::new(foreign(status), with_causes(status)),
    };
    refusal.violations = details.violations;
    refusal.metadata = details.metadata;
    refusal.current = details.current.map(Box::new);
    refusal
}

/// What [`key::EXECUTION`] says of a request that a rule refused.
const REFUSED: &str = "refused";

/// Adds what clients of the first release need, who do not know the kind.
pub(crate) fn with_execution(refusal: Refusal) -> Refusal {
    if refusal.kind == ErrorKind::SwitchedOff {
        refusal.with(key::EXECUTION, REFUSED)
    } else {
        refusal
    }
}

/// A refusal of a later release, for a reason that this one does not know. Its message names the reason; its kind says no
/// more than the replica does: that the request was refused, or nothing.
pub(crate) fn later(reason: &str, message: &str, metadata: &BTreeMap<String, String>) -> Refusal {
    let is_refused = metadata.get(key::EXECUTION).map(String::as_str) == Some(REFUSED);
    let kind = if is_refused {
        ErrorKind::InvalidArgument
    } else {
        ErrorKind::UnknownOutcome
    };
    let message = format!("{reason}, a reason that this client is too old to know: {message}");
    Refusal::new(kind, message)
}

/// What a call says that the replica has never heard of.
fn unimplemented(status: &Status) -> String {
    format!(
        "the replica does not know this call, so nothing was done: it runs an older release than this client, or something \
         else answers at this address. Upgrade the replicas, or use a client of their release ({})",
        with_causes(status)
    )
}

/// The message of a status, and what caused it: the gRPC library says of a broken connection little more than that.
fn with_causes(status: &Status) -> String {
    let mut message = status.message().to_owned();
    let mut cause = status.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        cause = error.source();
    }
    message
}

/// A status as an encoded `google.rpc.Status`, as pipelines carry it.
#[must_use]
pub fn to_bytes(status: &Status) -> Bytes {
    // The details of a status are those bytes already.
    if !status.details().is_empty() {
        return Bytes::copy_from_slice(status.details());
    }
    let status = pb::Status {
        code: status.code().into(),
        message: status.message().to_owned(),
        details: Vec::new(),
    };
    status.encode_to_vec().into()
}

/// The status that [`to_bytes`] has written.
#[must_use]
pub fn from_bytes(bytes: Bytes) -> Status {
    match pb::Status::decode(&*bytes) {
        Ok(status) => Status::with_details(Code::from(status.code), status.message, bytes),
        Err(fault) => Status::internal(format!("the status of a call cannot be read: {fault}")),
    }
}

/// What the caller of a request knows of it after this refusal.
///
/// Usually the kind determines it. The exception is a deadline that passed before the request was proposed, as the
/// metadata then says.
#[must_use]
pub fn verdict(refusal: &Refusal) -> Verdict {
    match refusal.metadata.get(key::NOT_EXECUTED).map(String::as_str) {
        Some("true") => Verdict::NotExecuted,
        Some(_) | None => refusal.kind.verdict(),
    }
}

/// The kind of a status without an `ErrorInfo` of Synod.
fn foreign(status: &Status) -> ErrorKind {
    match status.code() {
        Code::InvalidArgument | Code::Unimplemented => ErrorKind::InvalidArgument,
        Code::Unauthenticated => ErrorKind::Unauthenticated,
        Code::PermissionDenied => ErrorKind::PermissionDenied,
        Code::DeadlineExceeded => ErrorKind::DeadlineExceeded,
        // How tonic refuses a message that is longer than its reader allows.
        Code::OutOfRange => ErrorKind::TooLarge,
        // The gRPC library uses this code, too, when a connection breaks under a request. Only if there never was a
        // connection is it certain that nothing was sent.
        Code::Unavailable if never_connected(status) => ErrorKind::Unavailable,
        Code::Ok
        | Code::Cancelled
        | Code::Unknown
        | Code::NotFound
        | Code::AlreadyExists
        | Code::ResourceExhausted
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::Internal
        | Code::Unavailable
        | Code::DataLoss => ErrorKind::UnknownOutcome,
    }
}

fn never_connected(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if error.is::<ConnectError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests;
