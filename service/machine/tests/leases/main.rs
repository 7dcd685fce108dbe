//! Leases, their queues and their candidates: single rules, the digest, and a naive model.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod candidates;
mod deletion;
mod digest;
mod naive;
mod queues;
#[path = "../support/raised.rs"]
mod raised;
mod random;
mod stage;
#[path = "../support/stored.rs"]
mod stored;
#[path = "../support/switched.rs"]
mod switched;
mod switches;
mod tokens;
