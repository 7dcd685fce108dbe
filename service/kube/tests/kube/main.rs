//! Tests of the Kubernetes API in front of real replicas, all in this process: requests as they are sent, and kubectl.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod apply;
mod candidates;
mod clients;
mod discovery;
mod kubectl;
mod leases;
mod lists;
mod migrations;
mod objects;
mod own;
mod replicas;
mod snapshots;
mod status;
mod verbs;
mod watches;
