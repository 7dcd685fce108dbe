//! Whole replicas in one process, on simulated clocks, networks, disks and randomness: the seed determines the run.
//!
//! Each replica has a paused tokio runtime of its own, all on one thread; the loop in `world` moves all of them.
//! openraft, tonic and the store run unchanged. While faults come and go, the checkers check the invariants, one file
//! each; then all faults are healed, and the replicas must converge.
//!
//! A failing seed prints the line that runs it again. Two variables change what is run:
//!
//! - `SYNOD_SIM_SEED=17`: this seed only, with its trace printed.
//! - `SYNOD_SIM_SEEDS=1000`: the number of seeds, instead of a few. `cargo xtask endure simulation` runs twenty of each that
//!   has to survive, and `cargo xtask endure sets` a hundred in which the replica set changes.

#[cfg(test)]
mod api_servers;
#[cfg(test)]
mod checkers;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod damaged;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod full_disks;
#[cfg(test)]
mod hand_overs;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod net;
#[cfg(test)]
mod proposals;
#[cfg(test)]
mod raw_watch;
#[cfg(test)]
mod replays;
#[cfg(test)]
mod replica_sets;
#[cfg(test)]
mod rollouts;
#[cfg(test)]
mod rotations;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod stale_leaders;
#[cfg(test)]
mod survival;
#[cfg(test)]
mod trace;
#[cfg(test)]
mod users;
#[cfg(test)]
mod visitor;
#[cfg(test)]
#[path = "../processes/watch_log.rs"]
mod watch_log;
#[cfg(test)]
mod watchdog;
#[cfg(test)]
mod went_back;
#[cfg(test)]
mod world;
