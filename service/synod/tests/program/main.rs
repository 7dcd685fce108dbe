//! Tests of the program as processes: what they print, and their exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agreements;
mod certificates;
mod cluster;
mod commands;
mod contexts;
mod dev;
mod elections;
mod fences;
mod history;
mod kubernetes;
mod leases;
mod migrating;
mod migrations;
mod objects;
mod observing;
mod policies;
mod program;
mod refusals;
mod rosters;
mod serve;
mod settings;
mod spellings;
#[path = "../../src/tests/stand_in.rs"]
mod stand_in;
mod topics;
mod upgrading;
mod watch;
