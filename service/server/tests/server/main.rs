//! Tests of what clients see of replicas with real disks, connections and clocks, all in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod backups;
mod cluster;
mod failover;
mod freshness;
mod histories;
mod leases;
mod lists;
mod members;
mod migrations;
mod objects;
mod one;
mod operations;
mod pipelines;
mod reads;
mod requests;
mod retries;
mod sessions;
mod three;
mod watches;
