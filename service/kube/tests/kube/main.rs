//! Tests of the Kubernetes API in front of real replicas, all in this process: requests as they are sent, and kubectl.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod apply;
mod candidates;
mod certificates;
mod clients;
mod discovery;
mod gzip;
mod http2;
mod kubectl;
mod leases;
mod lists;
mod members;
mod migrations;
mod objects;
mod own;
mod protobuf;
mod proxies;
mod replicas;
mod situations;
mod snapshots;
mod status;
mod taking_part;
mod taking_part_rules;
mod vectors;
mod verbs;
mod watches;
