//! Tests of real replicas: processes of the program `synod` on loopback, with data on a real disk, and with faults that
//! only processes have: SIGKILL, SIGSTOP, a broken network, a data directory that is not what it was.
//!
//! - `cluster`, `process`, `program`, `release`: three replicas, started, stopped, killed, and never left behind.
//! - `commands`: commands of the program, run to their ends.
//! - `links`, `door`, `relay`: proxies that can hold or cut connections between replicas or from clients.
//! - `writers`, `keeper`, `history`: clients that call all the time, and the checks of their answers.
//! - `cards`: the objects that those clients store. `requests`: requests without the client library.
//! - `watcher`, `watch_log`: a recorded watch, and the check of what every watch promises. `followers`: many by the library.
//! - `agreement`, `tree_hash`, `planted`: compare replicas and files, and forge a checkpoint.
//! - `certificates`: CAs, certificates and connections behind transport security.
//! - `access`: who may call what, and as whom.
//! - `traces`: calls as a collector of traces sees them.
//! - `runbook`: the commands that are written down for operators. `start`: those for whoever tries it out.
//! - `backups`: backups, through other programs, too, and clusters that are founded from them and from what is left of others.
//! - `hostile`: hostile clients, and what they cost.
//! - `kube`: the Kubernetes API under load, and under requests that nobody sane sends.
//! - the others are tests, one file for each kind of fault.
//!
//! Tests never sleep: they wait for an event, and name it if it does not come (`waiting`). Only the store that `rotation` stands in
//! for takes its time. Replicas' logs are in files,
//! which are printed and kept when a test fails. These variables change what is run:
//!
//! - `SYNOD_BINARY=path`: the program to test; cargo builds it if not set.
//! - `SYNOD_PROCESS_LOG=info,openraft=debug`: what replicas log.
//! - `SYNOD_PROCESS_ROUNDS=50`: the number of rounds of each fault, instead of a few.
//! - `SYNOD_PROCESS_OBJECTS=100000`: the number of objects that a key is rotated for, or that are listed or watched, instead of a few.
//! - `SYNOD_PROCESS_SEED=17`: the seed of requests that are made by chance, instead of a fixed one.
//! - `SYNOD_KUBE_CLIENT_GO=path`: the program of client-go that runs many informers; without it they are left out.
//! - `SYNOD_PROCESS_SECONDS=60`: the least duration of tests that repeat for a time.
//!
//! The tests need Linux: `links` looks up under `/proc` which replica opened a connection.

mod access;
mod aftermath;
mod agreement;
mod backups;
mod bad_objects;
mod bad_requests;
mod cards;
mod certificates;
mod cluster;
mod commands;
mod counting;
mod directories;
mod divergence;
mod doctor;
mod door;
mod durability;
mod exactly_once;
mod followers;
mod foreign_bytes;
mod history;
mod hostile;
mod issuer;
mod keeper;
mod kube;
mod leases;
mod limits;
mod links;
mod logs;
mod members;
mod objects;
mod partition;
mod pause;
mod planted;
mod process;
mod program;
mod relay;
mod release;
mod replica_set;
mod requests;
mod rolling;
mod rotation;
mod runbook;
mod saturation;
mod security;
mod shutdown;
mod speakers;
mod start;
mod survivors;
mod systemd;
mod three_hosts;
mod too_large;
mod top;
mod traces;
mod tree_hash;
mod upgrades;
mod waiting;
mod watch_log;
mod watched_over;
mod watcher;
mod watches;
mod writers;
