//! The handles against real replicas: those of the client's own tests, on a network and disks in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod generated;
