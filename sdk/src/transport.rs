//! Transport: how a request reaches a replica, with one channel to each endpoint and one deadline over all tries, and
//! what a failed try means for the request.

mod answer;
mod backoff;
mod call_trace;
mod endpoints;
mod failure;
mod following;
mod pipeline;
mod replica_channel;
mod roads;
mod round;
mod token;
mod tries;

pub(crate) use answer::Headed;
pub(crate) use backoff::Backoff;
pub(crate) use call_trace::CallTrace;
pub(crate) use endpoints::{Endpoints, Keepalive, Wiring, unknown_endpoint};
pub(crate) use failure::{FailedTry, Failure};
pub(crate) use pipeline::ANSWER_BYTES_MAX;
pub(crate) use replica_channel::ReplicaChannel;
pub(crate) use roads::Roads;
pub(crate) use token::Credential;
pub use token::Token;
pub(crate) use tries::{Call, Repeats, Try};
