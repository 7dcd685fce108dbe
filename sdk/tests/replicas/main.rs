//! The client against real replicas: consensus, store and gRPC are those of the product; the network, the disks and the
//! clock are in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod cluster;
mod fragments;
mod gate;
mod histories;
mod http;
mod joining;
mod keys;
mod kinds;
mod layer;
mod leases;
mod membership;
mod migrating;
mod network;
mod objects;
mod pipelines;
mod scripted;
mod served;
mod vectors;
mod watch;
