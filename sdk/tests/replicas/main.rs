//! The client against real replicas: consensus, store and gRPC are the product's, the network, the disks and the clock
//! are in memory.

mod client;
mod cluster;
mod gate;
mod http;
mod membership;
mod network;
mod vectors;
mod watch;
