//! Real replicas: processes of the program `synod` on loopback, with their data on a real disk, and faults that only
//! processes have: SIGKILL, SIGSTOP, a broken network, a directory that is not what it was.
//!
//! - `cluster`, `process`, `program`, `ports`: three replicas, started, stopped, killed, and never left behind.
//! - `links`, `door`, `relay`: the connections between replicas, and those of clients, as proxies that can be held.
//! - `writers`, `history`: clients that write all the time, and what each call was answered; the checks of it.
//! - `cards`: the objects that those clients keep.
//! - `watcher`, `watch_log`: a recording of a watch, and what every watch promises.
//! - `hostile`: clients that mean harm, and what they cost.
//! - the others are tests, one file for each kind of fault.
//!
//! Nothing here waits for time to pass: it waits for something to happen, and says what when it does not (`waiting`).
//! Replicas' logs are in files that are kept, and shown, when a test fails. Four variables change what is run:
//!
//! - `SYNOD_BINARY=path`: the program to test; cargo builds it if not set.
//! - `SYNOD_PROCESS_LOG=info,openraft=debug`: what replicas log.
//! - `SYNOD_PROCESS_ROUNDS=50`: so many rounds of each fault instead of a few.
//! - `SYNOD_PROCESS_SECONDS=60`: so long at least, where a test goes on for a time.
//!
//! It needs Linux: which replica opened a connection is looked up under `/proc`.

mod agreement;
mod bad_objects;
mod bad_requests;
mod cards;
mod cluster;
mod counting;
mod directories;
mod divergence;
mod door;
mod durability;
mod exactly_once;
mod foreign_bytes;
mod history;
mod hostile;
mod keeper;
mod leases;
mod limits;
mod links;
mod logs;
mod members;
mod objects;
mod partition;
mod pause;
mod planted;
mod ports;
mod process;
mod program;
mod relay;
mod requests;
mod shutdown;
mod speakers;
mod too_large;
mod tree_hash;
mod waiting;
mod watch_log;
mod watcher;
mod watches;
mod writers;
